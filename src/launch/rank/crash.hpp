// The report of a rank that a signal ends: the thread, rank and MPI call, a backtrace, and how to get a core.
//
// Only where the program has no handler of its own when MPI is initialized; one that it installs later replaces ours.
// The signal then ends the process as it would have anyway, with the same exit code and core.
#pragma once

#include "base/result.hpp"

namespace heddle {

// Handlers for the signals of a crash, unless HEDDLE_BACKTRACE is 0. For the whole process; a rank that is a thread has
// actions of its own (launch/host/signals.hpp). A failure: invalid value; its text is the rest of a sentence that begins
// with HEDDLE_BACKTRACE.
Result<void> report_crashes();

// A stack for the calling thread's handlers, if its own is full; it is freed with the thread. None if reports are off,
// or if the thread has one already.
void take_crash_stack();

}  // namespace heddle
