// Where the threads of a job are, for the user whose job hangs: who waits for whom in which call, on which communicator and
// since when, how many threads compute outside MPI, and which ranks have not initialized MPI.
//
// All of it is read from the job's segment, so ranks that are stopped, spin or have died keep nobody waiting.
#pragma once

#include <string>
#include <vector>

#include "mpiexec/segment.hpp"

namespace heddle::mpiexec {

// Lines that begin with two blanks, of the ranks that are alive; threads that wait for the same share one. Takes two looks
// and some milliseconds between them, to tell threads that call again and again from those that stay in a call.
std::string where_threads_are(const Segment& segment, const std::vector<bool>& alive);

}  // namespace heddle::mpiexec
