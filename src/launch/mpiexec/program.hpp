// The programs of a job: their paths, and the reasons why one can't be run, before any rank is.
#pragma once

#include <string>
#include <vector>

#include "launch/mpiexec/options.hpp"

namespace heddle::mpiexec {

// The environment of the ranks of the program at `path` (empty: of any), without the variables of a single rank.
std::vector<std::string> environment_of(const EnvironmentPlan& all, const EnvironmentPlan& own,
                                        const std::string& path);

// Adds the folder of this installation's library to the end of LD_LIBRARY_PATH, if the loader does not find libmpi_abi
// for the program at `path` without it.
void add_our_library(std::vector<std::string>& environment, const std::string& path);

// As a path that means the same from the program's working directory. Throws ProgramError.
std::string find_program(const App& app);

// The result of find_program. Throws ProgramError or UsageError if the program is missing, can't be run here or can't
// join the job, as processes or as threads; `ranks` of the job.
std::string require_program(const App& app, const EnvironmentPlan& all, int ranks, bool ranks_are_threads);
void require_programs(const Options& options);

// True if the kernel's refusal to execute it (ENOEXEC) means a script without a #! line, as for a shell.
bool is_plain_script(const std::string& path);

// The reason why an execve has failed with this error, and the remedy.
std::string why_not_executed(const std::string& path, int error);

}  // namespace heddle::mpiexec
