// CLHub and HCLHub: locality-preserving locks with unbounded bias and two classes of caller.
//
// Source: Dang 2017, Fig. 12; the locks of the models `p-clhub-usc` and `p-hclhub-usc`. A spin lock, `bias_`, is tried first by
// every high caller, so that the thread that has just released it, and whose cache holds the data, mostly gets it again. Those
// that fail queue, and only the head of the queue competes for it. HCLHub has a cohort lock in the place of that queue, so that
// the next candidate is preferably of the same NUMA node.
//
// Invariants: the owner of the lock holds bias_. `wanted` (the paper's filter, see LowClass) counts the high callers that wait.
// The paper has a flag there, set by the head of the high queue, and a low caller can slip in when the head changes. Safety:
// mutual exclusion. Progress: deadlock free. A high caller can starve while others monopolize the lock: the bias is unbounded by
// design; in the paper's use every thread has a bounded number of operations. The low class is FIFO and starves while a high
// caller waits. Priority: the low class gets the lock only while no high caller waits. A high caller may overtake the high queue.
// When: high message rates with several active threads. It tolerates oversubscription best among the queue locks here, since a
// running thread may take bias_ whichever thread is at the head.
//
// Memory orders: bias_ alone hands over critical sections. The queues only order the competitors, see their headers.
#pragma once

#include "base/platform/platform.hpp"
#include "base/platform/topology.hpp"
#include "base/sync/pclh_lock.hpp"

namespace heddle::sync {

template <platform::Platform P, Lock HighQueue>
class BiasedLock {
 public:
  class node {
    friend class BiasedLock;
    typename HighQueue::node high;
    typename ClhQueue<P>::node low;
  };

  BiasedLock() = default;
  explicit BiasedLock(const platform::Topology& machine) : high_(machine) {}

  void lock(node& mine) {
    if (bias_.try_lock(nothing_)) return;
    const typename LowClass<P>::HeldBack held_back(low_);
    high_.lock(mine.high);
    bias_.lock(nothing_);
    high_.unlock(mine.high);
  }

  bool try_lock(node&) { return bias_.try_lock(nothing_); }

  void lock_low(node& mine) { low_.pass(bias_, mine.low); }

  void unlock(node&) { bias_.unlock(nothing_); }

 private:
  alignas(platform::cache_line) TtasLock<P> bias_;
  [[no_unique_address]] NoNode nothing_;
  HighQueue high_;
  typename ClhQueue<P>::Cells cells_;
  LowClass<P> low_{cells_};
};

template <platform::Platform P>
using ClhubLock = BiasedLock<P, ClhLock<P>>;

template <platform::Platform P>
using HclhubLock = BiasedLock<P, CohortLock<P, unbounded>>;

}  // namespace heddle::sync
