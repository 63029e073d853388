// mpiexec: reads the command line, places the ranks, makes the job's segment, starts the ranks and watches over them.
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <exception>

#include "boot/cores.hpp"
#include "boot/mpiexec/cpu_mask.hpp"
#include "boot/mpiexec/launch.hpp"
#include "boot/mpiexec/options.hpp"
#include "boot/mpiexec/placement.hpp"
#include "boot/mpiexec/segment.hpp"
#include "boot/mpiexec/supervisor.hpp"
#include "boot/wake_up.hpp"

namespace heddle::boot {
namespace {

constexpr int exit_code_of_usage = 2;

// A descriptor that we open must never become 0, 1 or 2 because somebody started us with one of them closed.
void open_standard_descriptors() {
  int fd = open("/dev/null", O_RDWR);
  while (fd >= 0 && fd <= STDERR_FILENO) fd = dup(fd);
  if (fd > STDERR_FILENO) close(fd);
}

void name_ignored(const Options& options) {
  if (options.ignored.empty() || options.quiet) return;
  std::string list;
  for (const std::string& option : options.ignored) list += (list.empty() ? "" : ", ") + option;
  fprintf(stderr, "mpiexec: these options mean nothing here and are ignored: %s\n", list.c_str());
}

// "0-3,8"
std::string ranges(std::vector<int> cpus) {
  std::sort(cpus.begin(), cpus.end());
  std::string text;
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t end = i;
    while (end + 1 < cpus.size() && cpus[end + 1] == cpus[end] + 1) ++end;
    text += (text.empty() ? "" : ",") + std::to_string(cpus[i]);
    if (end > i) text += '-' + std::to_string(cpus[end]);
    i = end + 1;
  }
  return text;
}

void report(const Placement& placement, int usable) {
  for (std::size_t rank = 0; rank < placement.cpus.size(); ++rank) {
    const std::vector<int>& cpus = placement.cpus[rank];
    if (cpus.empty())
      fprintf(stderr, "mpiexec: rank %zu is not bound (%d usable cores for all ranks)\n", rank, usable);
    else
      fprintf(stderr, "mpiexec: rank %zu is bound to cpus %s\n", rank, ranges(cpus).c_str());
  }
}

Placement find_placement(const Options& options, int ranks, int usable) {
  const PlacementRequest& request = options.placement;
  std::vector<int> allowed = CpuMask::allowed();
  if (!request.cpus.empty()) {
    std::erase_if(allowed, [&](int cpu) {
      return std::find(request.cpus.begin(), request.cpus.end(), cpu) == request.cpus.end();
    });
    if (allowed.empty()) throw UsageError("--cpu-set names no hardware thread that may be used here");
    usable = std::min(usable, static_cast<int>(allowed.size()));
  }
  std::vector<HardwareThread> machine;
  if (needs_topology(request, ranks, usable, static_cast<int>(allowed.size()))) {
    std::string problem;
    machine = hardware_threads(allowed, problem);
    if (machine.empty() && request.explicit_binding()) throw UsageError("cannot bind ranks: " + problem);
  }
  Placement placement = place(request, ranks, usable, machine);
  for (std::vector<int>& cpus : placement.cpus) {
    if (cpus.empty() && !request.cpus.empty()) cpus = allowed;
  }
  return placement;
}

Segment describe_job(const Options& options, const Placement& placement, int usable) {
  std::vector<RankPlan> plan;
  int appnum = 0;
  for (const App& app : options.apps) {
    for (int i = 0; i < app.ranks; ++i) {
      const std::vector<int>& cpus = placement.cpus[plan.size()];
      plan.push_back(
          {appnum, app.ranks, cpus.empty() ? placement.cores : static_cast<int>(cpus.size()), !cpus.empty()});
    }
    ++appnum;
  }
  return make_segment(plan, {.usable_cores = usable, .wake_up = measure_wake_up()}, options.universe_size);
}

int run(const std::vector<std::string>& arguments) {
  const Options options = parse_options(arguments);
  if (options.show_version) {
    puts("mpiexec (Heddle) " HEDDLE_VERSION);
    return 0;
  }
  if (options.show_help) {
    print_help();
    return 0;
  }
  name_ignored(options);
  require_programs(options);
  const int ranks = total_ranks(options);
  if (options.stdin_rank >= ranks)
    throw UsageError("--stdin names rank " + std::to_string(options.stdin_rank) + ", but there are " +
                     std::to_string(ranks));
  const int usable = usable_cores();
  const Placement placement = find_placement(options, ranks, usable);
  if (options.report_bindings) report(placement, usable);
  const Segment segment = describe_job(options, placement, usable);
  Supervisor supervisor(options, segment);
  launch(options, placement, segment, supervisor);
  return supervisor.run();
}

int complain(const std::exception& problem, int exit_code) {
  fprintf(stderr, "mpiexec: %s\n", problem.what());
  return exit_code;
}

}  // namespace
}  // namespace heddle::boot

int main(int argc, char** argv) {
  using namespace heddle::boot;
  open_standard_descriptors();
  try {
    return run({argv + 1, argv + argc});
  } catch (const ProgramError& problem) {
    return complain(problem, ProgramError::exit_code);
  } catch (const UsageError& problem) {
    return complain(problem, exit_code_of_usage);
  } catch (const std::exception& problem) {
    return complain(problem, 1);
  }
}
