// The test of a lock: a plain counter survives. Threads take the lock in every way it offers (lock, try_lock,
// lock_low) and reuse one node, so that a node that is still in use when unlock returns shows up.
#pragma once

#include <array>

#include "base/sync/lock.hpp"
#include "kit.hpp"

namespace heddle::test {

template <platform::Platform P, sync::Lock L, unsigned MaxThreads>
class LockBody {
 public:
  LockBody(unsigned threads, unsigned rounds) : threads_(threads), rounds_(rounds) {}

  void thread(unsigned id) {
    typename L::node& node = nodes_[id];
    for (unsigned round = 0; round != rounds_; ++round) {
      acquire(node, id + round);
      const unsigned seen = counter_.get();
      require<P>(!inside_.get(), "two threads hold the lock");
      inside_.set(true);
      if ((round + 1) % disturbance == 0) P::yield();
      counter_.set(seen + 1);
      inside_.set(false);
      lock_.unlock(node);
    }
  }

  void finish() { require<P>(counter_.get() == threads_ * rounds_, "an increment under the lock was lost"); }

 protected:
  void warm() {
    for (unsigned id = 0; id != threads_; ++id) {
      lock_.lock(nodes_[id]);
      lock_.unlock(nodes_[id]);
    }
  }

 private:
  static constexpr unsigned disturbance = 29;  // every so many rounds the owner lets others run, so that they queue

  void acquire(typename L::node& node, unsigned way) {
    switch (way % 3) {
      case 0:
        return lock_.lock(node);
      case 1:
        return sync::lock_low(lock_, node);
      default:
        if (!lock_.try_lock(node)) lock_.lock(node);
    }
  }

  const unsigned threads_;
  const unsigned rounds_;
  L lock_;
  typename P::template plain<unsigned> counter_;
  typename P::template plain<bool> inside_;
  std::array<typename L::node, MaxThreads> nodes_;
};

// The same with nodes that have been used before, so that the checker spends nothing on how they got their cells.
template <platform::Platform P, sync::Lock L, unsigned MaxThreads>
class WarmLockBody : public LockBody<P, L, MaxThreads> {
 public:
  WarmLockBody(unsigned threads, unsigned rounds) : LockBody<P, L, MaxThreads>(threads, rounds) { this->warm(); }
};

// The same with attempts only: who fails goes on. Under the checker this reaches deeper into try_lock.
template <platform::Platform P, sync::Lock L, unsigned MaxThreads>
class TryLockBody {
 public:
  TryLockBody(unsigned threads, unsigned rounds) : threads_(threads), rounds_(rounds) {}

  void thread(unsigned id) {
    for (unsigned round = 0; round != rounds_; ++round) {
      if (!lock_.try_lock(nodes_[id])) continue;
      counter_.set(counter_.get() + 1);
      ++successes_[id];
      lock_.unlock(nodes_[id]);
    }
  }

  void finish() {
    unsigned successes = 0;
    for (const unsigned s : successes_) successes += s;
    require<P>(counter_.get() == successes, "two threads held the lock");
    require<P>(successes != 0, "no thread got a free lock");
  }

 private:
  const unsigned threads_;
  const unsigned rounds_;
  L lock_;
  typename P::template plain<unsigned> counter_;
  std::array<unsigned, MaxThreads> successes_{};
  std::array<typename L::node, MaxThreads> nodes_;
};

}  // namespace heddle::test
