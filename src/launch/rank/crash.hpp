// What a rank says when a signal ends it: which thread of which rank in which MPI call, a backtrace, and how to get a core.
//
// Only where the program has no handler of its own when MPI is initialized; one that it installs later takes our place.
// The signal then ends the process as it would have anyway, with the same exit code and core.
#pragma once

#include <string>

namespace heddle {

// Handlers for the signals of a crash, unless HEDDLE_BACKTRACE says 0. For the whole process; a rank that is a thread has
// actions of its own (launch/host/signals.hpp).
// False, and how a sentence goes on that begins with HEDDLE_BACKTRACE: its value is none.
bool report_crashes(std::string& why);

// A stack for the calling thread's handlers, should its own be full; it goes with the thread. None if reports are off, or
// if the thread has one already.
void take_crash_stack();

}  // namespace heddle
