// The programs that a job is to run: where they are, and why one can't be run, before any rank is.
#pragma once

#include <string>
#include <vector>

#include "mpiexec/options.hpp"

namespace heddle::mpiexec {

// The environment of a program's ranks, but for what tells them who they are.
std::vector<std::string> environment_of(const EnvironmentPlan& all, const EnvironmentPlan& own);

// As a path that means the same from the program's working directory. Throws ProgramError.
std::string find_program(const App& app);

// Throws ProgramError or UsageError if one of the programs is missing, can't be run here or can't join the job.
void require_programs(const Options& options);

// Whether the kernel's refusal to execute it (ENOEXEC) means a script without a #! line, as for a shell.
bool is_plain_script(const std::string& path);

// Why an execve has failed with this error, and what helps.
std::string why_not_executed(const std::string& path, int error);

}  // namespace heddle::mpiexec
