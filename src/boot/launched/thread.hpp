// A thread of the library's own, for the life of the process. No signal of the program is handled there.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <thread>
#include <utility>

namespace heddle::boot {

// Throws std::system_error.
template <class Body>
void start_thread(Body&& body) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread(std::forward<Body>(body)).detach();
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace heddle::boot
