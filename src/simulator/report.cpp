#include "simulator/report.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <vector>

#include "simulator/files.hpp"
#include "simulator/simulation.hpp"

namespace heddle::simulator {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

constexpr const char* distance_names[distances] = {"core", "cluster", "socket", "machine", "memory"};
constexpr const char* access_names[accesses] = {"reads", "writes", "updates"};

void write_counts(std::FILE* to, const Counts& c) {
  std::fprintf(to, "{");
  for (std::size_t a = 0; a != accesses; ++a) {
    std::fprintf(to, "\"%s\": %lu, \"missed_%s\": {", access_names[a], c.performed[a], access_names[a]);
    for (std::size_t d = 0; d != distances; ++d)
      std::fprintf(to, "%s\"%s\": %lu", d == 0 ? "" : ", ", distance_names[d], c.misses[a][d]);
    std::fprintf(to, "}, ");
  }
  std::fprintf(to,
               "\"failed_exchanges\": %lu, \"fences\": %lu, \"pauses\": %lu, \"calls\": %lu, \"system_calls\": %lu, "
               "\"sleeps\": %lu, \"wakes\": %lu, \"yields\": %lu, \"switches\": %lu}",
               c.failed_exchanges, c.fences, c.pauses, c.calls, c.system_calls, c.sleeps, c.wakes, c.yields,
               c.switches);
}

void write_stack(std::FILE* to, const Stack& stack, Files& files) {
  std::fprintf(to, ", \"address\": %lu, \"data\": [", stack.address);
  files.write_address(to, stack.address);
  std::fprintf(to, "], \"frames\": [");
  for (std::size_t i = 0; i != stack.depth; ++i) {
    const Stack::Frame& frame = stack.frames[i];
    std::fprintf(to, "%s[", i == 0 ? "" : ", ");
    files.write_address(to, frame.pc);
    std::fprintf(to, ", %lu", frame.top);
    for (const std::uintptr_t value : frame.registers) std::fprintf(to, ", %lu", value);
    std::fprintf(to, "]");
  }
  std::fprintf(to, "], \"words\": [");
  for (std::size_t i = 0; i != stack.words.size(); ++i) std::fprintf(to, "%s%lu", i == 0 ? "" : ", ", stack.words[i]);
  std::fprintf(to, "]");
}

// The misses on lines that other cores had, by line, the lines with most of them first.
void write_lines(std::FILE* to, const Memory& memory, Files& files) {
  std::map<std::uint64_t, std::uint64_t> totals;
  for (const auto& [site, misses] : memory.sites()) totals[site.line] += misses.count;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> order(totals.begin(), totals.end());
  std::ranges::stable_sort(order, [](const auto& a, const auto& b) { return a.second > b.second; });
  constexpr std::size_t most = 400;
  if (order.size() > most) order.resize(most);
  std::map<std::uint64_t, std::vector<std::pair<Site, Misses>>> of_line;
  for (const auto& [line, total] : order) of_line[line];
  for (const auto& entry : memory.sites())
    if (const auto found = of_line.find(entry.first.line); found != of_line.end()) found->second.push_back(entry);
  const char* between_lines = "";
  for (const auto& [line, total] : order) {
    std::fprintf(to, "%s\n    {\"line\": %lu, \"misses\": %lu, \"sites\": [", between_lines, line, total);
    between_lines = ",";
    auto& sites = of_line[line];
    std::ranges::sort(sites, [](const auto& a, const auto& b) {
      return std::tie(b.second.count, a.first.offset, a.first.access, a.first.pc) <
             std::tie(a.second.count, b.first.offset, b.first.access, b.first.pc);
    });
    constexpr std::size_t with_stacks = 8;
    for (std::size_t i = 0; i != sites.size(); ++i) {
      const auto& [site, misses] = sites[i];
      std::fprintf(to, "%s{\"offset\": %u, \"kind\": \"%s\", \"misses\": %lu, \"place\": [", i == 0 ? "" : ", ",
                   site.offset, access_names[static_cast<std::size_t>(site.access)], misses.count);
      files.write_address(to, site.pc);
      std::fprintf(to, "]");
      if (i < with_stacks && misses.stack != nullptr) write_stack(to, *misses.stack, files);
      std::fprintf(to, "}");
    }
    std::fprintf(to, "]}");
  }
}

}  // namespace

void write_report(const Simulation& simulation) {
  const Scheduler& scheduler = simulation.scheduler;
  const File to(std::fopen(scheduler.settings().report.c_str(), "we"), std::fclose);
  if (!to) return;
  std::fprintf(to.get(), "{\"virtual_ns\": %.3f, \"threads\": [", static_cast<double>(scheduler.clock) / nanosecond);
  const char* between = "";
  for (const auto& thread : scheduler.threads()) {
    std::fprintf(to.get(), "%s\n  ", between);
    write_counts(to.get(), thread->counts);
    between = ",";
  }
  std::fprintf(to.get(), "],\n  \"lines\": [");
  Files files;
  write_lines(to.get(), simulation.memory, files);
  std::fprintf(to.get(), "]");
  if (scheduler.settings().trace) {
    std::fprintf(to.get(), ",\n  \"trace\": ");
    simulation.history.write(to.get(), files);
  }
  std::fprintf(to.get(), ",\n  \"files\": [");
  files.write_names(to.get());
  std::fprintf(to.get(), "]}\n");
}

}  // namespace heddle::simulator
