// SIGQUIT to a rank that another launcher has started: the user requests a report of the job's threads, and the job
// goes on. A handler of the program's own stays.
#pragma once

namespace heddle::boot {

// Notes the signal from now on. A descriptor, of the calling rank, that is readable once it has come; -1: there is
// none.
int note_quit_signal();

// True if it has come since the last call. Never blocks.
bool took_quit_signal(int descriptor);

}  // namespace heddle::boot
