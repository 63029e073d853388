// A thread that waits for requests: a synchronization counter that whoever completes one of them signals.
//
// A thread that waits for all of n requests is signalled n times and wakes once; one that waits for any of them counts
// one event, which the first completion signals (Dang 2017, section IV-A, has the former; the latter is ours).
#pragma once

#include <atomic>
#include <cstdint>

#include "platform/native.hpp"
#include "sync/kernel_counter.hpp"

namespace heddle {

struct Waiter {
  sync::KernelCounter<platform::Native> counter;
  bool any = false;                    // waits for one of its requests, not for all
  std::atomic<bool> signalled{false};  // `any` only: somebody was the first
  bool server = false;                 // under the lock of Roles, as the links
  Waiter* next = nullptr;
  Waiter* prev = nullptr;
};

inline Waiter& waiter_of_thread() {
  static thread_local constinit Waiter waiter;
  return waiter;
}

// Threads to wake once the VNI is released: waking costs a system call, which nobody should wait for. The waiter may be
// gone by then; its counter's address is all that is needed.
class Wakeups {
 public:
  Wakeups() = default;
  Wakeups(const Wakeups&) = delete;
  Wakeups& operator=(const Wakeups&) = delete;
  ~Wakeups() {
    if (size_ != 0) [[unlikely]]
      flush();
  }
  void add(Waiter& waiter) {
    if (size_ == capacity) flush();
    asleep_[size_++] = &waiter;
  }
  void flush() {
    for (int i = 0; i < size_; ++i) asleep_[i]->counter.wake();
    size_ = 0;
  }

 private:
  static constexpr int capacity = 16;
  int size_ = 0;
  Waiter* asleep_[capacity];
};

}  // namespace heddle
