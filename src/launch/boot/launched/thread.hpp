// A thread of the library's own, for the life of the process. No signal of the program is handled there.
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
