// A thread that waits for requests, and the wake-ups after a VNI is released (base/sync/waiter.hpp), on the real machine.
#pragma once

#include "base/platform/native.hpp"
#include "base/sync/doorbell.hpp"
#include "base/sync/waiter.hpp"
#include "base/threads/thread_ref.hpp"

namespace heddle {

struct Waiter : sync::Waiter<platform::Native, threads::ThreadRef> {};

// For a kernel thread. A user-level one has its waiter on its stack.
inline Waiter& waiter_of_thread() {
  static thread_local constinit Waiter waiter;
  return waiter;
}

class Wakeups
    : public sync::Wakeups<sync::Waiter<platform::Native, threads::ThreadRef>, sync::Doorbell<platform::Native>> {
 public:
  Wakeups() {}
};

}  // namespace heddle
