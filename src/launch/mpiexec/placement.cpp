#include "launch/mpiexec/placement.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "launch/mpiexec/options.hpp"
#include "launch/mpiexec/words.hpp"

namespace heddle::mpiexec {
namespace {

constexpr int cores_worth_binding = 2;

using Cpus = std::vector<int>;

struct LevelName {
  const char* name;
  Level level;
};

// "slot" and "node" place nothing on one machine: consecutive ranks get consecutive shares.
constexpr LevelName level_names[] = {
    {"none", Level::none},       {"hwthread", Level::hwthread}, {"pu", Level::hwthread},    {"core", Level::core},
    {"rr", Level::core},         {"l3cache", Level::l3cache},   {"l3", Level::l3cache},     {"cache", Level::l3cache},
    {"numa", Level::numa},       {"numanode", Level::numa},     {"socket", Level::package}, {"sockets", Level::package},
    {"package", Level::package}, {"slot", Level::automatic},    {"node", Level::automatic}, {"board", Level::automatic},
    {"machine", Level::none},
};

Level level_of(const std::string& option, const std::string& name) {
  for (const LevelName& row : level_names) {
    if (name == row.name) return row.level;
  }
  throw UsageError(option + " takes none, hwthread, core, l3cache, numa, socket or slot, not '" + name + "'");
}

// Open MPI's modifiers behind the colon that change nothing on one machine are accepted silently.
bool changes_nothing(const std::string& modifier) {
  static constexpr const char* all[] = {"inherit", "noinherit", "no-overload", "if-supported", "ordered", "span"};
  return std::any_of(std::begin(all), std::end(all), [&](const char* one) { return modifier == one; });
}

void apply_modifiers(PlacementRequest& request, const std::string& option, const std::vector<std::string>& modifiers) {
  for (const std::string& modifier : modifiers) {
    std::string word = modifier;
    std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::tolower(c); });
    const bool is_width = word.starts_with("pe=");
    if (const int width = whole_number(is_width ? word.substr(3) : word); width > 0) {
      request.width = width;
    } else if (word == "hwtcpus") {
      request.count_threads = true;
    } else if (word == "corecpus") {
      request.count_threads = false;
    } else if (word == "overload-allowed") {
      request.overload = true;
    } else if (word == "oversubscribe") {
      request.overload = true;
      request.no_oversubscribe = false;
    } else if (word == "nooversubscribe") {
      request.no_oversubscribe = true;
    } else if (word == "report") {
      request.report = true;
    } else if (!changes_nothing(word)) {
      throw UsageError(
          std::string(option).append(" takes the modifiers PE=N, N, hwtcpus, overload-allowed, oversubscribe, "
                                     "nooversubscribe, report and span, not '" +
                                     modifier + "'"));
    }
  }
}

int part_of(const HardwareThread& thread, Level level) {
  switch (level) {
    case Level::hwthread:
      return thread.cpu;
    case Level::core:
      return thread.core;
    case Level::l3cache:
      return thread.l3cache;
    case Level::numa:
      return thread.numa;
    case Level::package:
      return thread.package;
    default:
      return 0;
  }
}

// The threads as lists of indices that are in the same part; parts in the order of neighbourhood.
std::vector<std::vector<std::size_t>> group(const std::vector<HardwareThread>& machine, Level level) {
  std::vector<std::vector<std::size_t>> groups;
  std::vector<int> parts;
  for (std::size_t i = 0; i < machine.size(); ++i) {
    const int part = part_of(machine[i], level);
    const auto known = std::find(parts.begin(), parts.end(), part);
    const auto index = static_cast<std::size_t>(known - parts.begin());
    if (known == parts.end()) {
      parts.push_back(part);
      groups.emplace_back();
    }
    groups[index].push_back(i);
  }
  return groups;
}

// Rank r gets the cores from r/n to (r+1)/n of them all.
std::vector<Cpus> contiguous_shares(int ranks, const std::vector<HardwareThread>& machine) {
  const auto cores = group(machine, Level::core);
  const auto n = static_cast<std::size_t>(ranks);
  std::vector<Cpus> shares(n);
  for (std::size_t rank = 0; rank < n; ++rank) {
    for (std::size_t core = rank * cores.size() / n; core < (rank + 1) * cores.size() / n; ++core) {
      for (std::size_t thread : cores[core]) shares[rank].push_back(machine[thread].cpu);
    }
  }
  return shares;
}

// Each rank's units (cores, or hardware threads), as indices into `units`: round robin over the parts named by
// --map-by, and in a part to the next free units, beginning again when they are used up.
std::vector<std::vector<std::size_t>> map_ranks(const PlacementRequest& request, int ranks,
                                                const std::vector<HardwareThread>& machine,
                                                const std::vector<std::vector<std::size_t>>& units) {
  std::vector<std::vector<std::size_t>> parts;  // units of each part
  const bool fine = request.map <= Level::core;
  for (const auto& threads : fine ? std::vector<std::vector<std::size_t>>{} : group(machine, request.map)) {
    std::vector<std::size_t>& part = parts.emplace_back();
    for (std::size_t unit = 0; unit < units.size(); ++unit) {
      if (std::find(threads.begin(), threads.end(), units[unit].front()) != threads.end()) part.push_back(unit);
    }
  }
  if (fine) {
    std::vector<std::size_t>& all = parts.emplace_back(units.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
  }

  std::vector<std::vector<std::size_t>> mapped;
  const auto per_part = static_cast<std::size_t>(request.per_part);
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(ranks); ++rank) {
    // ppr fills a part before it goes to the next one.
    const auto& part = parts[per_part != 0 ? rank / per_part % parts.size() : rank % parts.size()];
    const std::size_t turn = per_part != 0 ? rank % per_part : rank / parts.size();
    std::vector<std::size_t>& own = mapped.emplace_back();
    const auto width = std::min(static_cast<std::size_t>(request.width), part.size());
    if (width < static_cast<std::size_t>(request.width))
      throw UsageError("a rank needs " + std::to_string(request.width) +
                       " cores of the part that it is mapped to (PE=" + std::to_string(request.width) +
                       "), but that has " + std::to_string(part.size()));
    for (std::size_t i = 0; i < width; ++i) own.push_back(part[(turn * width + i) % part.size()]);
  }
  if (request.by_location) std::stable_sort(mapped.begin(), mapped.end());
  return mapped;
}

// Two ranks on one core take turns, and a user who binds ranks wants a core for each.
void refuse_overload(const PlacementRequest& request, int ranks, std::size_t units, const char* unit) {
  const auto wanted = static_cast<std::size_t>(ranks) * static_cast<std::size_t>(request.width);
  if (request.overload || wanted <= units) return;
  const std::string each = request.width > 1 ? " with " + std::to_string(request.width) + ' ' + unit + "s each" : "";
  throw UsageError("cannot bind " + std::to_string(ranks) + " ranks" + each + ": only " + std::to_string(units) + ' ' +
                   unit + (units == 1 ? "" : "s") +
                   " may be used; start fewer, let them move with --bind-to none, or let them share with "
                   "--bind-to core:overload-allowed");
}

std::vector<Cpus> requested_places(const PlacementRequest& request, int ranks,
                                   const std::vector<HardwareThread>& machine) {
  Level bind = request.bind != Level::automatic ? request.bind : request.map;
  if (bind == Level::automatic) bind = Level::core;
  const bool threads = request.count_threads || bind == Level::hwthread || request.map == Level::hwthread;
  const auto units = group(machine, threads ? Level::hwthread : Level::core);
  refuse_overload(request, ranks, units.size(), threads ? "hardware thread" : "core");

  std::vector<Cpus> places;
  for (const auto& own : map_ranks(request, ranks, machine, units)) {
    Cpus& cpus = places.emplace_back();
    for (const HardwareThread& thread : machine) {
      const bool inside = std::any_of(own.begin(), own.end(), [&](std::size_t unit) {
        return std::any_of(units[unit].begin(), units[unit].end(),
                           [&](std::size_t i) { return part_of(machine[i], bind) == part_of(thread, bind); });
      });
      if (inside) cpus.push_back(thread.cpu);
    }
  }
  return places;
}

}  // namespace

void request_binding(PlacementRequest& request, const std::string& option, const std::string& text) {
  const std::vector<std::string> words = split(text, ':');
  request.bind = level_of(option, words.empty() ? "" : words.front());
  if (!words.empty()) apply_modifiers(request, option, {words.begin() + 1, words.end()});
}

void request_mapping(PlacementRequest& request, const std::string& option, const std::string& text) {
  std::vector<std::string> words = split(text, ':');
  if (!words.empty() && words.front() == "ppr") {
    request.per_part = words.size() >= 3 ? whole_number(words[1]) : -1;
    if (request.per_part < 1)
      throw UsageError(option +
                       " takes ppr:N:RESOURCE for N ranks on each RESOURCE (node, socket, numa, core ...), not '" +
                       text + "'");
    words.erase(words.begin(), words.begin() + 2);
  }
  // ":PE=2" names modifiers alone.
  const bool named = text.empty() || text.front() != ':';
  if (named) request.map = level_of(option, words.empty() ? "" : words.front());
  if (!words.empty()) apply_modifiers(request, option, {words.begin() + (named ? 1 : 0), words.end()});
}

void request_ranking(PlacementRequest& request, const std::string& option, const std::string& text) {
  const std::string word = text.substr(0, text.find(':'));
  const bool as_mapped = word == "slot" || word == "span" || word == "node";
  const auto known = [&](const LevelName& row) { return word == row.name; };
  if (!as_mapped && word != "fill" && std::none_of(std::begin(level_names), std::end(level_names), known))
    throw UsageError(option + " takes slot, span, core or fill, not '" + text + "'");
  request.by_location = !as_mapped;
}

void request_cpus(PlacementRequest& request, const std::string& option, const std::string& text) {
  constexpr int most = 65535;  // Linux knows fewer
  request.cpus.clear();
  for (const std::string& range : split(text, ',')) {
    const std::size_t dash = range.find('-');
    const int first = whole_number(range.substr(0, dash));
    const int last = dash == std::string::npos ? first : whole_number(range.substr(dash + 1));
    if (first < 0 || last < first || last > most) {
      request.cpus.clear();
      break;
    }
    for (int cpu = first; cpu <= last; ++cpu) request.cpus.push_back(cpu);
  }
  if (request.cpus.empty())
    throw UsageError(option + " takes a list of hardware threads such as 0,2-5, not '" + text + "'");
}

bool needs_topology(const PlacementRequest& request, int ranks, int usable_cores, int allowed_cpus) {
  if (request.per_part != 0) return true;
  if (request.bind == Level::none) return false;
  if (request.explicit_binding() || request.width > 1) return true;
  // A quota below the number of allowed cores is not tied to cores: binding would only limit the kernel's choices.
  return ranks > 1 && usable_cores == allowed_cpus && allowed_cpus / ranks >= cores_worth_binding;
}

int ranks_of_parts(const PlacementRequest& request, const std::vector<HardwareThread>& machine) {
  return request.per_part * std::max(1, static_cast<int>(group(machine, request.map).size()));
}

Placement place(const PlacementRequest& request, int ranks, int usable_cores,
                const std::vector<HardwareThread>& machine) {
  Placement placement;
  placement.cores = std::max(1, usable_cores / ranks);
  placement.cpus.resize(static_cast<std::size_t>(ranks));
  if (request.per_part != 0 && !machine.empty() && ranks > ranks_of_parts(request, machine))
    throw UsageError("--map-by ppr:" + std::to_string(request.per_part) + " allows " +
                     std::to_string(ranks_of_parts(request, machine)) + " ranks on this machine, but -n asks for " +
                     std::to_string(ranks) + "; leave one of the two out");
  if (machine.empty() || request.bind == Level::none) return placement;
  if (request.explicit_binding() || request.width > 1) {
    placement.cpus = requested_places(request, ranks, machine);
  } else if (ranks > 1 && group(machine, Level::core).size() / static_cast<std::size_t>(ranks) >= cores_worth_binding) {
    placement.cpus = contiguous_shares(ranks, machine);
  }
  return placement;
}

}  // namespace heddle::mpiexec
