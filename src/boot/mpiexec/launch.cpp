#include "boot/mpiexec/launch.hpp"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "boot/mpiexec/cpu_mask.hpp"
#include "boot/mpiexec/hosting.hpp"
#include "boot/mpiexec/spawn.hpp"
#include "boot/mpiexec/words.hpp"

extern char** environ;

namespace heddle::boot {
namespace {

bool is_executable(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && access(path.c_str(), X_OK) == 0;
}

// As a path that means the same from the program's working directory: a name with a slash counts from there, as it
// would in a shell, or else from ours; a bare name is looked up in PATH and then in those two directories. Empty:
// there is none.
std::string find_program(const std::string& name, const std::string& directory) {
  char here[4096];
  const std::string ours = getcwd(here, sizeof here) != nullptr ? here : ".";
  const std::string theirs = directory.empty() ? ours : directory.front() == '/' ? directory : ours + '/' + directory;
  std::vector<std::string> candidates;
  if (name.find('/') == std::string::npos) {
    const char* path = getenv("PATH");
    for (const std::string& folder : split(path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin", ':')) {
      std::string& candidate = candidates.emplace_back(folder.front() == '/' ? "" : ours + '/');
      candidate.append(folder).append("/").append(name);
    }
  }
  if (name.front() == '/')
    candidates.push_back(name);
  else
    candidates.insert(candidates.end(), {theirs + '/' + name, ours + '/' + name});
  const auto found = std::find_if(candidates.begin(), candidates.end(), is_executable);
  return found != candidates.end() ? *found : "";
}

std::vector<std::string> environment_of(const EnvironmentPlan& all, const EnvironmentPlan& own) {
  const EnvironmentPlan& rule = own.inherit != Inherit::unset ? own : all;
  std::vector<std::string> environment;
  for (char** entry = environ; rule.inherit != Inherit::none && *entry != nullptr; ++entry) {
    const bool listed = std::count(rule.listed.begin(), rule.listed.end(), name_of(*entry)) != 0;
    if (rule.inherit != Inherit::listed || listed) environment.emplace_back(*entry);
  }
  for (const EnvironmentPlan* plan : {&all, &own}) {
    for (const auto& [name, value] : plan->set) set_variable(environment, name, value);
  }
  return environment;
}

// Two pipes a rank: many ranks need more descriptors than the usual soft limit. The ranks get the old limit back.
rlimit make_room_for_pipes(int ranks) {
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  rlimit wanted = before;
  wanted.rlim_cur = std::min<rlim_t>(before.rlim_max, std::max<rlim_t>(before.rlim_cur, 4 * ranks + 64));
  setrlimit(RLIMIT_NOFILE, &wanted);
  return before;
}

}  // namespace

int total_ranks(const Options& options) {
  int ranks = 0;
  for (const App& app : options.apps) ranks += app.ranks;
  return ranks;
}

void require_programs(const Options& options) {
  for (const App& app : options.apps) {
    if (!app.directory.empty() && access(app.directory.c_str(), X_OK) != 0) {
      throw UsageError("cannot enter the working directory " + app.directory + ": " + strerror(errno));
    }
    const std::string path = find_program(app.command.front(), app.directory);
    if (!path.empty()) {
      if (options.threads != 0) require_hostable(path);
      continue;
    }
    throw ProgramError("cannot find the program " + app.command.front() + ", or it is not executable");
  }
}

void launch(const Options& options, const Placement& placement, const Segment& segment, Supervisor& supervisor) {
  const rlimit open_files = make_room_for_pipes(total_ranks(options));
  int rank = 0;
  for (const App& app : options.apps) {
    const std::string path = find_program(app.command.front(), app.directory);
    std::vector<std::string> words = app.command;
    std::vector<std::string> script_words{"sh", path};
    script_words.insert(script_words.end(), words.begin() + 1, words.end());
    const std::vector<char*> arguments = pointers_to(words);
    const std::vector<char*> script_arguments = pointers_to(script_words);

    std::vector<std::string> environment = environment_of(options.environment, app.environment);
    set_variable(environment, job_fd_variable, std::to_string(segment.fd));
    set_variable(environment, launcher_variable, std::to_string(getpid()));
    set_variable(environment, size_variable, std::to_string(segment.header->size));
    if (options.threads != 0) {
      const HostedApp hosted{options, app, path, environment, rank};
      if (!launch_hosts(hosted, placement, segment, open_files, supervisor)) return;
      rank += app.ranks;
      continue;
    }
    set_variable(environment, rank_variable, "");
    for (int i = 0; i < app.ranks; ++i, ++rank) {
      environment.back() = std::string(rank_variable) + '=' + std::to_string(rank);
      const std::vector<char*> variables = pointers_to(environment);
      const CpuMask mask(placement.cpus[static_cast<std::size_t>(rank)]);
      const Supervisor::Ends ends = supervisor.make_ends(rank);
      segment.records[rank].state.store(RankState::running);
      const Spawned child = spawn({.path = path.c_str(),
                                   .arguments = arguments.data(),
                                   .script_arguments = script_arguments.data(),
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
                                  "): " + strerror(child.error),
                              exit_code_of_start(child.error));
      return;
    }
  }
}

}  // namespace heddle::boot
