// The report of the threads of a job that hangs: the call that each waits in, the ranks that it waits for, on which
// communicator and since when, the ranks that are outside MPI, and those that have not initialized it.
//
// It is read from the job's segment, so ranks that are stopped, spin or have died do not block it.
#pragma once

#include <string>

#include "launch/boot/standstill/ranks_view.hpp"

namespace heddle::boot {

// Lines that begin with two blanks; threads that wait for the same share one. Takes two samples with some milliseconds
// between them, to distinguish threads that call repeatedly from those that stay in a call.
std::string where_threads_are(const RanksView& view);

}  // namespace heddle::boot
