#include "mpiexec/launch.hpp"

#include <unistd.h>

#include <exception>

#include "boot/cpu_mask.hpp"
#include "mpiexec/hosting.hpp"
#include "mpiexec/open_files.hpp"
#include "mpiexec/program.hpp"
#include "mpiexec/spawn.hpp"
#include "mpiexec/words.hpp"

namespace heddle::mpiexec {

int total_ranks(const Options& options) {
  int ranks = 0;
  for (const App& app : options.apps) ranks += app.ranks;
  return ranks;
}

namespace {

void start_ranks(const Options& options, const Placement& placement, const Segment& segment, Supervisor& supervisor) {
  const rlimit open_files = raise_open_files();
  int rank = 0;
  for (const App& app : options.apps) {
    const std::string path = find_program(app);
    std::vector<std::string> words = app.command;
    const bool plain_script = is_plain_script(path);
    std::vector<std::string> script_words{"sh", path};
    script_words.insert(script_words.end(), words.begin() + 1, words.end());
    const std::vector<char*> arguments = pointers_to(words);
    const std::vector<char*> script_arguments = pointers_to(script_words);

    std::vector<std::string> environment = environment_of(options.environment, app.environment);
    set_variable(environment, boot::job_fd_variable, std::to_string(segment.fd));
    set_variable(environment, boot::launcher_variable, std::to_string(getpid()));
    set_variable(environment, boot::size_variable, std::to_string(segment.header->size));
    if (options.threads != 0) {
      const HostedApp hosted{options, app, path, environment, rank};
      if (!launch_hosts(hosted, placement, segment, open_files, supervisor)) return;
      rank += app.ranks;
      continue;
    }
    set_variable(environment, boot::rank_variable, "");
    for (int i = 0; i < app.ranks; ++i, ++rank) {
      environment.back() = std::string(boot::rank_variable) + '=' + std::to_string(rank);
      const std::vector<char*> variables = pointers_to(environment);
      const boot::CpuMask mask(placement.cpus[static_cast<std::size_t>(rank)]);
      const Supervisor::Ends ends = supervisor.make_ends(rank);
      segment.records[rank].state.store(boot::RankState::running);
      const Spawned child = spawn({.path = path.c_str(),
                                   .arguments = arguments.data(),
                                   .script_arguments = plain_script ? script_arguments.data() : nullptr,
                                   .environment = variables.data(),
                                   .directory = app.directory.empty() ? nullptr : app.directory.c_str(),
                                   .cpus = mask.set(),
                                   .cpus_bytes = mask.bytes(),
                                   .in = ends.in,
                                   .out = ends.out,
                                   .err = ends.err,
                                   .inherited = {},
                                   .signal_mask = &supervisor.rank_mask(),
                                   .default_signals = &supervisor.rank_defaults(),
                                   .open_files = &open_files});
      supervisor.started(rank, child.pid, app.command.front(), ends);
      if (child.error == 0) continue;
      supervisor.start_failed("cannot " + std::string(child.step) + " of rank " + std::to_string(rank) + " (" + path +
                                  "): " + why_not_executed(path, child.error),
                              exit_code_of_start(child.error));
      return;
    }
  }
}

}  // namespace

void launch(const Options& options, const Placement& placement, const Segment& segment, Supervisor& supervisor) {
  try {
    start_ranks(options, placement, segment, supervisor);
  } catch (const std::exception& problem) {  // the ranks that run already must not be left to themselves
    supervisor.start_failed(problem.what(), 1);
  }
}

}  // namespace heddle::mpiexec
