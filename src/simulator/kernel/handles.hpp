// The simulated threads by libc's handles.
#pragma once

#include <pthread.h>

#include "simulator/scheduler.hpp"

namespace heddle::simulator {

// Null: a thread of the real system.
Thread* thread_of(pthread_t handle);

}  // namespace heddle::simulator
