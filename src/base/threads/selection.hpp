// The user-level runtimes that this process waits in.
#pragma once

#include <string>

#include "base/result.hpp"

namespace heddle::threads {

// Selects them for the process, once; later calls change nothing. `wanted` is HEDDLE_THREADS:
//   ""           the runtime that is bound, and the components of those whose library the program has loaded
//   "none"       all threads are kernel threads
//   "NAME,..."   these: a runtime's name or the path of a component
// A failure: a requested one is not available. A runtime that was found without a request and can't be used is no failure:
// the value is a sentence about it, otherwise empty.
Result<std::string> select_runtimes(const std::string& wanted);

// The names of those selected, pthreads first.
std::string selected_runtimes();

}  // namespace heddle::threads
