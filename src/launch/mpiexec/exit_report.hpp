// The text that reports how a rank ended.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "launch/boot/job.hpp"

namespace heddle::mpiexec {

// True if a rank that ended with this wait status, leaving this record, ended well.
bool ended_well(int status, const boot::RankRecord& record);

// The exit code that the end of a rank means for the job: never 0 for a rank that did not end well.
int job_exit_code(int status, const boot::RankRecord& record);

// "was killed by signal 11 (SIGSEGV, Segmentation fault) in MPI_Recv", "exited with code 0 without calling
// MPI_Finalize", ...
std::string how_it_ended(int status, const boot::RankRecord& record);

// The same of a process with several ranks.
std::string how_it_ended(int status);

// "in MPI_Recv", "outside MPI"; "suspended in MPI_Recv" of user-level threads.
std::string place_text(std::uint16_t call, bool suspended);

// " in MPI_Recv", " (threads: 3 in MPI_Recv, 8 suspended in MPI_Wait, 2 outside MPI)", or nothing if it never called MPI.
std::string where_it_was(const boot::RankRecord& record);

}  // namespace heddle::mpiexec
