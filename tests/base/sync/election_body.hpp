// The test of the election: each thread posts requests and waits; polling completes the oldest request of any thread. So
// the server is done before the others, and must hand over. If it doesn't, or a wake-up is lost, threads wait for
// ever.
#pragma once

#include <array>

#include "base/sync/election.hpp"
#include "base/sync/mcs_lock.hpp"
#include "counters.hpp"
#include "kit.hpp"

namespace heddle::test {

template <platform::Platform P, class Counter, unsigned MaxThreads>
class ElectionBody {
  using Lock = sync::McsLock<P>;
  using Election = sync::Election<P, Counter>;
  using Waiter = typename Election::Waiter;
  template <class T>
  using plain = typename P::template plain<T>;

 public:
  ElectionBody(unsigned threads, unsigned rounds) : threads_(threads), rounds_(rounds) {}

  void thread(unsigned id) {
    Waiter& waiter = waiters_[id];
    for (unsigned round = 0; round != rounds_; ++round) {
      lock_.lock(nodes_[id]);
      election_.expect(waiter, requests);
      for (unsigned i = 0; i != requests; ++i) post(id);
      election_.wait(lock_, nodes_[id], waiter, [this] { return poll(); });
      require<P>(results_[id].get() == (round + 1) * requests, "returned before its requests were done");
    }
  }

  void finish() { require<P>(completed_.get() == threads_ * rounds_ * requests, "requests are left"); }

 private:
  static constexpr unsigned requests = 2;

  void post(unsigned id) {
    const unsigned end = posted_.get();
    ring_[end % ring_.size()].set(id);
    posted_.set(end + 1);
  }

  // Every second look finds nothing, as a network would.
  bool poll() {
    idle_.set(!idle_.get());
    const unsigned next = completed_.get();
    if (idle_.get() || next == posted_.get()) return false;
    const unsigned id = ring_[next % ring_.size()].get();
    completed_.set(next + 1);
    results_[id].set(results_[id].get() + 1);
    election_.complete(waiters_[id]);
    return true;
  }

  const unsigned threads_;
  const unsigned rounds_;
  Lock lock_;
  Election election_;
  std::array<typename Lock::node, MaxThreads> nodes_;
  std::array<Waiter, MaxThreads> waiters_;
  std::array<plain<unsigned>, MaxThreads * requests> ring_;
  std::array<plain<unsigned>, MaxThreads> results_;
  plain<unsigned> posted_{0};
  plain<unsigned> completed_{0};
  plain<bool> idle_{false};
};

}  // namespace heddle::test
