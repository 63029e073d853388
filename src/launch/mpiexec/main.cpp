// mpiexec: reads the command line, places the ranks, makes the job's segment, starts the ranks and watches over them.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <exception>
#include <memory>
#include <system_error>

#include "launch/boot/cores.hpp"
#include "launch/boot/cpu_mask.hpp"
#include "launch/boot/number_ranges.hpp"
#include "launch/boot/variables.hpp"
#include "launch/boot/wake_up.hpp"
#include "launch/mpiexec/growth.hpp"
#include "launch/mpiexec/hand_over.hpp"
#include "launch/mpiexec/hosts.hpp"
#include "launch/mpiexec/launch.hpp"
#include "launch/mpiexec/limits.hpp"
#include "launch/mpiexec/nodes/coordinator.hpp"
#include "launch/mpiexec/nodes/coordinator_link.hpp"
#include "launch/mpiexec/nodes/shares.hpp"
#include "launch/mpiexec/open_files.hpp"
#include "launch/mpiexec/options.hpp"
#include "launch/mpiexec/placement.hpp"
#include "launch/mpiexec/program.hpp"
#include "launch/mpiexec/relay.hpp"
#include "launch/mpiexec/segment.hpp"
#include "launch/mpiexec/shared_heap.hpp"
#include "launch/mpiexec/supervisor.hpp"
#include "launch/mpiexec/words.hpp"

namespace heddle::mpiexec {
namespace {

// A descriptor that we open must never become 0, 1 or 2 because mpiexec was started with one of them closed. One of the
// outputs is then open for reading only, so that writing to it fails as it would have.
void open_standard_descriptors() {
  int fd = open("/dev/null", O_RDONLY);
  while (fd >= 0 && fd <= STDERR_FILENO) fd = dup(fd);
  if (fd > STDERR_FILENO) close(fd);
}

void name_ignored(const Options& options) {
  if (options.ignored.empty() || options.quiet) return;
  std::string list;
  for (const std::string& option : options.ignored) list += (list.empty() ? "" : ", ") + option;
  fprintf(stderr, "mpiexec: ignored options, which have no effect here: %s\n", list.c_str());
}

// Variables of our environment, which the ranks inherit, and those that options set for them.
void name_unknown_variables(const Options& options) {
  if (options.quiet) return;
  std::vector<std::string> names;
  for (char** entry = environ; *entry != nullptr; ++entry) names.push_back(name_of(*entry));
  for (const auto& [name, value] : options.environment.set) names.push_back(name);
  for (const App& app : options.apps)
    for (const auto& [name, value] : app.environment.set) names.push_back(name);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  if (const std::string sentence = boot::unknown_variables(names); !sentence.empty())
    fprintf(stderr, "mpiexec: %s\n", sentence.c_str());
}

void report(const Placement& placement, int usable, int first_rank) {
  const auto first = static_cast<std::size_t>(first_rank);
  for (std::size_t rank = 0; rank < placement.cpus.size(); ++rank) {
    const std::vector<int>& cpus = placement.cpus[rank];
    if (cpus.empty())
      fprintf(stderr, "mpiexec: rank %zu is not bound (%d usable cores for all ranks)\n", first + rank, usable);
    else
      fprintf(stderr, "mpiexec: rank %zu is bound to cpus %s\n", first + rank, boot::number_ranges(cpus).c_str());
  }
}

// The cores that the ranks may use: `usable` becomes fewer if --cpu-set leaves some out.
std::vector<int> allowed_cpus(const PlacementRequest& request, int& usable) {
  std::vector<int> allowed = boot::CpuMask::allowed();
  if (request.cpus.empty()) return allowed;
  std::erase_if(
      allowed, [&](int cpu) { return std::find(request.cpus.begin(), request.cpus.end(), cpu) == request.cpus.end(); });
  if (allowed.empty())
    throw UsageError("--cpu-set names no usable hardware thread. Usable are " +
                     boot::number_ranges(boot::CpuMask::allowed()));
  usable = std::min(usable, static_cast<int>(allowed.size()));
  return allowed;
}

// Also sets the number of ranks, where --map-by ppr determines it.
Placement find_placement(Options& options, int usable) {
  const PlacementRequest& request = options.placement;
  const std::vector<int> allowed = allowed_cpus(request, usable);
  std::vector<HardwareThread> machine;
  if (needs_topology(request, total_ranks(options), usable, static_cast<int>(allowed.size()))) {
    Result<std::vector<HardwareThread>> found = hardware_threads(allowed);
    const std::string reason = found ? "" : found.failure().text;
    if (found) machine = *std::move(found);
    if (machine.empty() && (request.explicit_binding() || request.per_part != 0))
      throw UsageError("cannot place ranks on " +
                       std::string(request.per_part != 0 ? "parts of the machine" : "cores") + ": " + reason);
  }
  for (App& app : options.apps) {
    if (app.ranks == 0) app.ranks = ranks_of_parts(request, machine);
  }
  const int ranks = total_ranks(options);
  const int named = slots_of(options.apps.front().hosts);
  const int slots = named != 0 ? named : usable;
  if (request.no_oversubscribe && ranks > slots)
    throw UsageError("--nooversubscribe: " + std::to_string(ranks) + " ranks do not fit into " + std::to_string(slots) +
                     (named != 0 ? " slots of the hosts" : " usable cores") + "; start fewer or leave it out");
  Placement placement = place(request, ranks, usable, machine);
  for (std::vector<int>& cpus : placement.cpus) {
    if (cpus.empty() && !request.cpus.empty()) cpus = allowed;
  }
  return placement;
}

// Options that a job which survives failed ranks cannot have. mpiexec alone reads this setting, not its ranks.
void require_survivable(const Options& options) {
  std::vector<EnvironmentPlan> plans{options.environment};
  for (const App& app : options.apps) plans.push_back(app.environment);
  for (const EnvironmentPlan& plan : plans)
    for (const auto& [name, value] : plan.set)
      if (name == boot::fault_tolerance_variable) {
        std::string sentence = "the variable ";
        sentence.append(name).append(" is for mpiexec itself: use -with-ft ").append(value);
        throw UsageError(sentence);
      }
  if (!options.survive_failures) return;
  if (!leads_elsewhere(options)) return;
  const auto refuse = [](const char* what) {
    throw UsageError(std::string("a job on several nodes that survives failed ranks (-with-ft) ") + what);
  };
  if (options.apps.size() != 1) refuse("has one program only. Leave out the others");
  if (options.apps.front().hosts.empty()) refuse("needs their names: -host $(scontrol show hostnames | paste -sd,)");
  if (options.placement.per_part != 0) refuse("needs a number of ranks. Use -n N in place of -map-by ppr");
}

// HEDDLE_NODES: the number of simulated nodes of these ranks. One rank needs no network, whatever it says.
int nodes_to_pretend(int ranks) {
  const char* const text = getenv("HEDDLE_NODES");
  if (text == nullptr || *text == '\0') return 1;
  int nodes = 0;
  const auto [end, error] = std::from_chars(text, text + std::strlen(text), nodes);
  if (error != std::errc() || *end != '\0' || nodes < 1)
    throw UsageError(std::string("invalid value ") + text + " for HEDDLE_NODES: must be a number of nodes, at least 1");
  if (nodes > ranks && ranks > 1)
    throw UsageError(std::string("invalid value ") + text + " for HEDDLE_NODES: this job has " + std::to_string(ranks) +
                     " ranks, and each node needs one. Set it to " + std::to_string(ranks) + " or less");
  return std::min(nodes, ranks);
}

// For our part of the job; it stays until we end, as its thread may wait for the launcher. Null: all is ours.
Relay* join_launcher(Options& options) {
  if (options.join == 0) return nullptr;
  if (options.threads == 0 || options.apps.size() != 1)
    throw UsageError(
        "-join is for one program whose ranks are threads (-ranks threads); ranks that are processes join by "
        "themselves");
  if (options.survive_failures)
    throw UsageError("-with-ft: a job on several nodes (-join) ends with a rank that fails; leave it out");
  App& app = options.apps.front();
  auto relay = std::make_unique<Relay>(app.ranks, options.join);
  if (!relay->is_needed()) return nullptr;
  app.ranks = relay->count();
  return relay.release();
}

// `served`: of a job on several nodes, of which we serve one; null: all ranks are here.
Segment describe_job(const Options& options, const Placement& placement, int usable, const CoordinatorLink* served) {
  std::vector<RankPlan> plan;
  int appnum = 0;
  for (const App& app : options.apps) {
    for (int i = 0; i < app.ranks; ++i) {
      const std::vector<int>& cpus = placement.cpus[plan.size()];
      plan.push_back({appnum, served != nullptr ? served->nodes().first_ranks.back() : app.ranks,
                      cpus.empty() ? placement.cores : static_cast<int>(cpus.size()), !cpus.empty()});
    }
    ++appnum;
  }
  const int universe = options.universe_size == universe_of_cores ? usable : options.universe_size;
  const auto here = static_cast<int>(plan.size());
  return make_segment(plan, {.usable_cores = usable, .wake_up = boot::measure_wake_up()}, universe,
                      served != nullptr ? served->nodes() : pretended_nodes(nodes_to_pretend(here), here),
                      !options.survive_failures);
}

// The node's part of the job: its own ranks, and nothing that the coordinator does.
void narrow(Options& options, const NodeMap& nodes) {
  const auto here = static_cast<std::size_t>(nodes.here);
  App& app = options.apps.front();
  app.ranks = nodes.first_ranks[here + 1] - nodes.first_ranks[here];
  app.hosts = {};
  options.timeout_seconds = 0;
  options.stdin_rank -= nodes.first_ranks[here];
  if (options.stdin_rank < 0) options.stdin_rank = stdin_to_none;
}

int run_here(Options& options, int usable, CoordinatorLink* coordinator) {
  Relay* const relay = join_launcher(options);
  const Placement placement = find_placement(options, usable);
  require_open_files(options);
  const int ranks = total_ranks(options);
  if (coordinator == nullptr && options.stdin_rank >= ranks)
    throw UsageError("--stdin names rank " + std::to_string(options.stdin_rank) + ", but there are " +
                     std::to_string(ranks) + ", numbered from 0");
  if (options.report_bindings || options.placement.report)
    report(placement, usable, coordinator != nullptr ? coordinator->nodes().first_here() : 0);
  if (options.start_nothing) return 0;
  Segment segment = describe_job(options, placement, usable, coordinator);
  if (relay != nullptr) segment.first_rank = relay->first();
  const rlimit open_files = raise_open_files();
  Supervisor supervisor(options, segment, coordinator);
  Growth growth(options, segment, open_files, supervisor);
  if (segment.header->capacity > segment.header->size) supervisor.listen(growth);
  launch(options, placement, segment, open_files, relay, supervisor);
  if (relay != nullptr) {
    supervisor.use(*relay);
    relay->serve(segment.records);
  }
  const int exit_code = supervisor.run();
  if (relay != nullptr && exit_code == 0) relay->finish();
  return exit_code;
}

int exit_code_for(const std::exception& problem) {
  if (const auto* const program = dynamic_cast<const ProgramError*>(&problem)) return program->exit_code;
  return dynamic_cast<const UsageError*>(&problem) != nullptr ? exit_code_of_usage : 1;
}

// Ranks of one node, for the mpiexec that has started us there (nodes/).
int serve_node() {
  CoordinatorLink coordinator;
  try {
    coordinator.enter();
    Options options = parse_options(coordinator.plan().arguments);
    narrow(options, coordinator.nodes());
    add_shared_heap(options);
    require_programs(options);
    return run_here(options, boot::usable_cores(), &coordinator);
  } catch (const std::exception& problem) {
    coordinator.say_end(exit_code_for(problem));
    coordinator.finish(exit_code_for(problem), false);
    throw;
  }
}

int coordinate(const Options& options, const std::vector<std::string>& arguments) {
  const int ranks = total_ranks(options);
  if (options.stdin_rank >= ranks)
    throw UsageError("--stdin names rank " + std::to_string(options.stdin_rank) + ", but there are " +
                     std::to_string(ranks) + ", numbered from 0");
  if (nodes_to_pretend(ranks) > 1)
    throw UsageError("HEDDLE_NODES simulates nodes on one machine, and these are real. Unset it");
  if (options.start_nothing) {
    for (const Share& share : shares_of(options.apps.front())) {
      std::string line;
      for (const std::string& word : words_to_start(share.host, serve_option)) line += ' ' + word;
      fprintf(stderr, "mpiexec:%s\n", line.c_str());
    }
    return 0;
  }
  Coordinator coordinator(options, arguments);
  return coordinator.run();
}

int run(const std::vector<std::string>& arguments) {
  if (arguments == std::vector<std::string>{serve_option}) return serve_node();
  Options options = parse_options(arguments);
  if (options.show_version) {
    puts("mpiexec (Heddle) " HEDDLE_VERSION);
    return 0;
  }
  if (options.show_help) {
    print_help();
    return 0;
  }
  name_ignored(options);
  const int usable = boot::usable_cores();
  require_open_files(options);
  name_unknown_variables(options);
  if (!leads_elsewhere(options)) add_shared_heap(options);
  require_programs(options);
  require_survivable(options);
  if (leads_elsewhere(options) && options.survive_failures) return coordinate(options, arguments);
  if (leads_elsewhere(options)) {
    become(hand_over(options), options);
    return 0;
  }
  return run_here(options, usable, nullptr);
}

}  // namespace
}  // namespace heddle::mpiexec

int main(int argc, char** argv) {
  using namespace heddle::mpiexec;
  open_standard_descriptors();
  try {
    const int exit_code = run({argv + 1, argv + argc});
    // The text of --help and --version.
    if (fflush(stdout) != 0) throw std::system_error(errno, std::generic_category(), "cannot write to standard output");
    return exit_code;
  } catch (const std::exception& problem) {
    fprintf(stderr, "mpiexec: %s\n", problem.what());
    return exit_code_for(problem);
  }
}
