// A condition variable for threads of any runtime, mixed (base/sync/condition.hpp).
#pragma once

#include "base/platform/native.hpp"
#include "base/sync/condition.hpp"
#include "base/threads/mutex.hpp"
#include "base/threads/thread_ref.hpp"

namespace heddle::threads {

using Condition = sync::Condition<platform::Native, Mutex, ThreadRef, current>;

}  // namespace heddle::threads
