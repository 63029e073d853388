// A thread of the library, for the life of the process. It handles no signal of the program.
#pragma once

#include <thread>
#include <utility>

#include "base/threads/signals_blocked.hpp"

namespace heddle::boot {

// Throws std::system_error.
template <class Body>
void start_thread(Body&& body) {
  const threads::SignalsBlocked blocked;
  std::thread(std::forward<Body>(body)).detach();
}

}  // namespace heddle::boot
