// The lock of MPI_Win_lock: one word in shared memory for each target, held by one thread of any process exclusively or
// by many of them shared.
//
// There is no queue: a shared request is never delayed for an exclusive one that waits, since the program may rely on
// two shared locks being held at the same time (one process waits in its epoch for a message that another sends in its
// own). So a steady stream of shared locks can keep an exclusive one waiting.
//
// Memory orders: taking acquires and releasing releases, on the word. That, and the count of waiters, are sequentially
// consistent, so that either the releasing thread sees the waiter, or the waiter sees the lock free.
#pragma once

#include <atomic>
#include <cstdint>

namespace heddle::rma {

enum class LockType : bool { shared, exclusive };

class TargetLock {
 public:
  bool try_lock(LockType type) {
    std::uint32_t seen = word_.load(std::memory_order_seq_cst);
    while (type == LockType::exclusive ? seen == 0 : (seen & exclusive) == 0) {
      const std::uint32_t wanted = type == LockType::exclusive ? exclusive : seen + 1;
      if (word_.compare_exchange_weak(seen, wanted, std::memory_order_seq_cst)) return true;
    }
    return false;
  }
  // True if an attempt would succeed now.
  bool is_free(LockType type) const {
    const std::uint32_t now = word_.load(std::memory_order_seq_cst);
    return type == LockType::exclusive ? now == 0 : (now & exclusive) == 0;
  }
  // True if a thread waits for the lock and has to be notified.
  bool unlock(LockType type) {
    word_.fetch_sub(type == LockType::exclusive ? exclusive : 1, std::memory_order_seq_cst);
    return waiting_.load(std::memory_order_seq_cst) != 0;
  }

  // For a waiter: called before the attempt that is not repeated until a notification.
  void announce() { waiting_.fetch_add(1, std::memory_order_seq_cst); }
  void withdraw() { waiting_.fetch_sub(1, std::memory_order_relaxed); }

 private:
  static constexpr std::uint32_t exclusive = std::uint32_t{1} << 31;  // below: the number of shared holders
  std::atomic<std::uint32_t> word_{0};
  std::atomic<std::uint32_t> waiting_{0};
};

}  // namespace heddle::rma
