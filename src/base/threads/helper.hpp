// Threads of the library's own. They are kernel threads, and never taken for anything else: an internal wait may put them
// to sleep in the kernel.
#pragma once

#include <functional>
#include <thread>

namespace heddle::threads {

// The caller joins it. No signal of the program is handled there. Throws std::system_error.
std::thread make_helper(std::function<void()> body);

// Runs as long as the process does, or until the body returns; nobody joins it.
void start_helper(std::function<void()> body);

}  // namespace heddle::threads
