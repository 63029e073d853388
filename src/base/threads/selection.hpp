// Which user-level runtimes this process waits in.
#pragma once

#include <string>

namespace heddle::threads {

// Settles it for the process, once; later calls change nothing. `wanted` is HEDDLE_THREADS:
//   ""           the runtime that is bound, and the components of those whose library the program has loaded
//   "none"       all threads are kernel threads
//   "NAME,..."   these: a runtime's name or the path of a component
// False: one that was asked for can't be had, and `why` is the reason. What was found without being asked for and can't be
// used is complained of in `why` too, and that is no failure.
bool select_runtimes(const std::string& wanted, std::string& why);

// The names of those selected, pthreads first.
std::string selected_runtimes();

}  // namespace heddle::threads
