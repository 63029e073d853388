// SIGQUIT to a rank that another launcher has started: the user asks where its job's threads are, and the job goes on. A handler of the
// program's own stays.
#pragma once

namespace heddle::boot {

// Notes the signal from now on. A descriptor that is readable once it has come, of the calling rank; -1: there is none.
int note_quit_signal();

// Whether it has come since a thread last asked. Never blocks.
bool took_quit_signal(int descriptor);

}  // namespace heddle::boot
