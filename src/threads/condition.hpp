// A condition variable for threads of any runtime, mixed (sync/condition.hpp).
#pragma once

#include "platform/native.hpp"
#include "sync/condition.hpp"
#include "threads/mutex.hpp"
#include "threads/thread_ref.hpp"

namespace heddle::threads {

using Condition = sync::Condition<platform::Native, Mutex, ThreadRef, current>;

}  // namespace heddle::threads
