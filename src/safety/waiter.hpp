// A thread that sleeps until its requests are done: one synchronization counter with a place to sleep.
//
// Registered, signalled and deregistered under the VNI's protection; only the sleeping itself happens outside. Whoever
// completes a request subtracts from `pending`; the one that brings it to zero wakes the thread, so a thread that waits
// for many requests is woken once.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heddle {

struct Waiter {
  enum Word : std::uint32_t { waiting = 0, done = 1, serve = 2 };

  std::atomic<std::uint32_t> word{waiting};  // what it sleeps on
  std::size_t pending = 0;
  bool server = false;     // sleeps on the rank's doorbell instead, and drives progress for all
  Waiter* next = nullptr;  // sleepers that could take over as server
  Waiter* prev = nullptr;

  void sleep() { syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, waiting, nullptr, nullptr, 0); }
};

// Threads to wake once the VNI is released: waking costs a system call, which nobody should wait for. Only addresses
// are kept: the thread may be gone by then, and waking an address where nobody sleeps does no harm.
class Wakeups {
 public:
  ~Wakeups() { flush(); }
  void add(std::atomic<std::uint32_t>& word) {
    if (size_ == capacity) flush();
    words_[size_++] = &word;
  }
  void flush() {
    for (int i = 0; i < size_; ++i) syscall(SYS_futex, words_[i], FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    size_ = 0;
  }

 private:
  static constexpr int capacity = 16;
  int size_ = 0;
  std::atomic<std::uint32_t>* words_[capacity];
};

}  // namespace heddle
