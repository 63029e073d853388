// Threads of the library. They are kernel threads, and never taken for anything else: an internal wait may put them to
// sleep in the kernel.
#pragma once

#include <functional>
#include <thread>

namespace heddle::threads {

// The caller joins it. It handles no signal of the program. Throws std::system_error.
std::thread make_library_thread(std::function<void()> body);

// Runs as long as the process does, or until the body returns; it is not joined.
void start_library_thread(std::function<void()> body);

}  // namespace heddle::threads
