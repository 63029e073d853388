#include "launch/mpiexec/launch.hpp"

#include <unistd.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "launch/boot/cpu_mask.hpp"
#include "launch/mpiexec/hosting.hpp"
#include "launch/mpiexec/program.hpp"
#include "launch/mpiexec/spawn.hpp"
#include "launch/mpiexec/words.hpp"

namespace heddle::mpiexec {

int total_ranks(const Options& options) {
  int ranks = 0;
  for (const App& app : options.apps) ranks += app.ranks;
  return ranks;
}

namespace {

constexpr char openmp_threads[] = "OMP_NUM_THREADS";

// If a rank may run on all cores, OpenMP starts as many threads as there are cores, which spin while they wait for each
// other. Where ranks share the cores, each gets its share of threads; OpenMP counts the cores of a rank that is bound.
void share_cores(std::vector<std::string>& environment, const Segment& segment) {
  const auto is_bound = [](const boot::RankRecord& record) { return record.bound != 0; };
  if (segment.ranks < 2 || std::any_of(segment.records, segment.records + segment.ranks, is_bound)) return;
  if (std::ranges::find(environment, openmp_threads, name_of) != environment.end()) return;
  set_variable(environment, openmp_threads, std::to_string(std::max(1, segment.header->usable_cores / segment.ranks)));
}

// With as many digits for each process, so that the ranks' memory is laid out in the same way in each run.
std::string launcher_number() {
  const std::string digits = std::to_string(getpid());
  return std::string(10 - digits.size(), '0') + digits;
}

std::vector<std::string> environment_for(const App& app, const std::string& path, const EnvironmentPlan& all,
                                         const Segment& segment, int world_size) {
  std::vector<std::string> environment = environment_of(all, app.environment, path);
  set_variable(environment, boot::job_fd_variable, std::to_string(segment.fd));
  set_variable(environment, boot::launcher_variable, launcher_number());
  set_variable(environment, boot::size_variable, std::to_string(world_size));
  for (const char* const name : boot::local_size_variables)
    set_variable(environment, name, std::to_string(segment.ranks));
  share_cores(environment, segment);
  return environment;
}

void start_ranks(const Options& options, const Placement& placement, const Segment& segment, const rlimit& open_files,
                 const Relay* relay, Supervisor& supervisor) {
  int rank = 0;
  const int size = relay != nullptr ? relay->all() : segment.header->size;
  for (const App& app : options.apps) {
    const std::string path = find_program(app);
    if (options.threads != 0) {
      const HostedApp hosted{options, app,  path, environment_for(app, path, options.environment, segment, size),
                             rank,    relay};
      if (!launch_hosts(hosted, placement, segment, open_files, supervisor)) return;
      rank += app.ranks;
      continue;
    }
    Starter starter(app, path, options.environment, segment, size, open_files);
    for (int i = 0; i < app.ranks; ++i, ++rank) {
      int exit_code = 0;
      const std::string problem =
          starter.start(rank, placement.cpus[static_cast<std::size_t>(rank)], supervisor, exit_code);
      if (problem.empty()) continue;
      supervisor.start_failed(problem, exit_code);
      return;
    }
  }
}

}  // namespace

Starter::Starter(const App& app, std::string path, const EnvironmentPlan& environment, const Segment& segment,
                 int world_size, const rlimit& open_files)
    : app_(app),
      path_(std::move(path)),
      segment_(segment),
      open_files_(open_files),
      words_(app.command),
      script_words_{"sh", path_},
      environment_(environment_for(app, path_, environment, segment, world_size)),
      plain_script_(is_plain_script(path_)) {
  script_words_.insert(script_words_.end(), words_.begin() + 1, words_.end());
}

std::string Starter::start(int rank, const std::vector<int>& cpus, Supervisor& supervisor, int& exit_code) {
  set_variable(environment_, boot::rank_variable, std::to_string(segment_.first_here + rank));
  for (const char* const name : boot::local_rank_variables) set_variable(environment_, name, std::to_string(rank));
  const std::vector<char*> arguments = pointers_to(words_);
  const std::vector<char*> script_arguments = pointers_to(script_words_);
  const std::vector<char*> variables = pointers_to(environment_);
  const boot::CpuMask mask(cpus);
  const Supervisor::Ends ends = supervisor.make_ends(rank);
  segment_.records[rank].state.store(boot::RankState::running);
  const Spawned child = spawn({.path = path_.c_str(),
                               .arguments = arguments.data(),
                               .script_arguments = plain_script_ ? script_arguments.data() : nullptr,
                               .environment = variables.data(),
                               .directory = app_.directory.empty() ? nullptr : app_.directory.c_str(),
                               .cpus = mask.set(),
                               .cpus_bytes = mask.bytes(),
                               .in = ends.in,
                               .out = ends.out,
                               .err = ends.err,
                               .inherited = {},
                               .signal_mask = &supervisor.rank_mask(),
                               .default_signals = &supervisor.rank_defaults(),
                               .open_files = &open_files_});
  supervisor.started(rank, child.pid, app_.command.front(), ends);
  if (child.error == 0) return "";
  exit_code = exit_code_of_start(child.error);
  return "cannot " + std::string(child.step) + " of rank " + std::to_string(segment_.first_rank + rank) + " (" + path_ +
         "): " + why_not_executed(path_, child.error);
}

void launch(const Options& options, const Placement& placement, const Segment& segment, const rlimit& open_files,
            const Relay* relay, Supervisor& supervisor) {
  try {
    start_ranks(options, placement, segment, open_files, relay, supervisor);
  } catch (const std::exception& problem) {  // the ranks that run already must not be left to themselves
    supervisor.start_failed(problem.what(), 1);
  }
}

}  // namespace heddle::mpiexec
