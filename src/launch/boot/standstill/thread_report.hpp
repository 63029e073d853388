// Where the threads of a job are, for the user whose job hangs: who waits for whom in which call, on which communicator and
// since when, which ranks are outside MPI, and which have not initialized it.
//
// All of it is read from the job's segment, so ranks that are stopped, spin or have died keep nobody waiting.
#pragma once

#include <string>

#include "launch/boot/standstill/ranks_view.hpp"

namespace heddle::boot {

// Lines that begin with two blanks; threads that wait for the same share one. Takes two looks and some milliseconds between
// them, to tell threads that call again and again from those that stay in a call.
std::string where_threads_are(const RanksView& view);

}  // namespace heddle::boot
