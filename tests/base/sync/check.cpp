// The checker's command line. Without arguments it explores every program.
//
//   sync_check [--only=TEXT,TEXT...] [--full=N] [--bounded=N] [--random=N] [--preemptions=N] [--explain]
//   sync_check --sites              which memory orders, fences, wake-ups and stores which program meets, a line each
//   sync_check --weaken=FILE:LINE:COLUMN:SLOT:ORDER ...   with that order weakened; exit status 1 means it
//   was caught. ORDER is none for what is to be left out
//
// tools/mutate.py drives the last two.
#include "check.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

#include "engine.hpp"

namespace heddle::test {
namespace {

using platform::mutation;
using platform::order;
using platform::Step;

struct Options {
  std::string only;
  Effort effort;
  bool explain = false;
  bool sites = false;
};

const char* name_of(order o) {
  constexpr const char* names[] = {"relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst"};
  return names[static_cast<int>(o)];
}

const char* name_of(const platform::Mutation::Seen& seen) {
  switch (seen.step) {
    case Step::fence:
      return "fence";
    case Step::wake:
      return "wake";
    case Step::store:
      return "store";
    case Step::ordered:
      break;
  }
  return name_of(seen.given);
}

order order_named(std::string_view name) {
  for (const order o : {order::relaxed, order::acquire, order::release, order::acq_rel, order::seq_cst}) {
    if (name == name_of(o)) return o;
  }
  std::cerr << "no such memory order: " << name << "\n";
  std::exit(2);
}

// The text must live as long as the program does.
void weaken(std::string_view text) {
  std::string_view parts[5];
  for (std::string_view& part : parts) {
    const std::size_t end = std::min(text.find(':'), text.size());
    part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  const auto number = [](std::string_view digits) { return static_cast<unsigned>(std::stoul(std::string(digits))); };
  const platform::Site site{parts[0], number(parts[1]), number(parts[2]), number(parts[3])};
  if (parts[4] == "none") return mutation.leave_out(site);
  mutation.weaken(site, order_named(parts[4]));
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i != argc; ++i) {
    const std::string_view argument = argv[i];
    const std::size_t equals = argument.find('=');
    const std::string_view key = argument.substr(0, equals);
    const std::string value(equals == argument.npos ? "" : argument.substr(equals + 1));
    if (key == "--only") {
      options.only = value;
    } else if (key == "--full") {
      options.effort.full = std::stoull(value);
    } else if (key == "--bounded") {
      options.effort.bounded = std::stoull(value);
    } else if (key == "--random") {
      options.effort.random = std::stoull(value);
    } else if (key == "--preemptions") {
      options.effort.preemptions = static_cast<unsigned>(std::stoul(value));
    } else if (key == "--weaken") {
      weaken(argument.substr(equals + 1));
    } else if (key == "--explain") {
      options.explain = true;
    } else if (key == "--sites") {
      options.sites = true;
    } else {
      std::cerr << "unknown option: " << argument << "\n";
      std::exit(2);
    }
  }
  return options;
}

// True if a name contains one of several texts, separated by commas.
bool wanted(std::string_view name, std::string_view texts) {
  for (;;) {
    const std::size_t end = std::min(texts.find(','), texts.size());
    if (name.find(texts.substr(0, end)) != name.npos) return true;
    if (end == texts.size()) return false;
    texts.remove_prefix(end + 1);
  }
}

int run(const Options& options) {
  using Clock = std::chrono::steady_clock;
  bool failed = false;
  if (options.sites) mutation.record();
  for (const Enrolled& program : roll()) {
    if (!wanted(program.name, options.only)) continue;
    mutation.forget();
    const auto start = Clock::now();
    const Verdict verdict = explore(program, options.effort, options.explain);
    if (options.sites) {
      for (const auto& seen : mutation.seen()) {
        const platform::Site& site = seen.site;
        std::printf("%s %s:%u:%u:%u %s\n", program.name.c_str(), std::string(site.file).c_str(), site.line, site.column,
                    site.slot, name_of(seen));
      }
      continue;
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    const bool found = !verdict.failure.empty();
    const char* reach = verdict.exhaustive           ? "all interleavings"
                        : verdict.exhaustive_bounded ? "all with few preemptions, and random"
                                                     : "bounded, and random";
    std::printf("%-32s %10lu executions %6.1f s  %s\n", program.name.c_str(),
                static_cast<unsigned long>(verdict.executions), seconds,
                found == program.broken ? (found ? ("found, as it must be: " + verdict.failure).c_str() : reach)
                : found                 ? ("FAILED: " + verdict.failure).c_str()
                                        : "FAILED: what is broken on purpose was not found");
    std::fflush(stdout);
    failed |= found != program.broken;
    if (failed && mutation.active()) break;
  }
  return failed ? 1 : 0;
}

}  // namespace
}  // namespace heddle::test

int main(int argc, char** argv) {
  const auto options = heddle::test::parse(argc, argv);
  heddle::test::enroll_locks();
  heddle::test::enroll_combining();
  heddle::test::enroll_queues();
  heddle::test::enroll_waiting();
  heddle::test::enroll_accesses();
  heddle::test::enroll_survival();
  return heddle::test::run(options);
}
