// The user-level runtimes that this process waits in.
#pragma once

#include <string>

namespace heddle::threads {

// Selects them for the process, once; later calls change nothing. `wanted` is HEDDLE_THREADS:
//   ""           the runtime that is bound, and the components of those whose library the program has loaded
//   "none"       all threads are kernel threads
//   "NAME,..."   these: a runtime's name or the path of a component
// False: a requested one is not available, and `why` is the reason. A runtime that was found without a request and
// can't be used is reported in `why` too, and that is no failure.
bool select_runtimes(const std::string& wanted, std::string& why);

// The names of those selected, pthreads first.
std::string selected_runtimes();

}  // namespace heddle::threads
