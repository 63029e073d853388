// Cohort lock: one spin lock for the machine over one CLH lock per domain; the unlocking thread prefers its own domain.
//
// Source: Dice, Marathe and Shavit, PPoPP 2012 (C-BO-MCS), with CLH inside and no backoff outside, as Dang 2017
// (section IV-B) uses it. The outer lock may be unlocked by another thread than locked it, and a CLH owner knows if a
// thread waits behind it; cohorting needs no more.
//
// Invariants: `holds` of a cohort is true while the outer lock belongs to it, between threads too. `holds` and `passes`
// are touched by the owner of the inner lock only. Safety: mutual exclusion. Progress: deadlock free; FIFO inside a
// domain. Bound limits how often in a row a domain keeps the lock; among domains the spin lock decides, so a domain can
// starve in theory. When: a few NUMA nodes, all waiters running.
//
// Memory orders: none of its own. Inside a domain the inner lock hands over the critical section together with `holds`;
// between domains the outer lock does.
#pragma once

#include <deque>
#include <limits>

#include "base/platform/platform.hpp"
#include "base/platform/topology.hpp"
#include "base/sync/clh_lock.hpp"
#include "base/sync/ttas_lock.hpp"

namespace heddle::sync {

inline constexpr std::uint32_t unbounded = std::numeric_limits<std::uint32_t>::max();

// The threads of one domain, queueing for an outer lock that they hand on among themselves.
template <platform::Platform P>
class alignas(platform::cache_line) Cohort {
 public:
  using node = typename ClhQueue<P>::node;

  explicit Cohort(typename ClhQueue<P>::Cells& cells) : queue_(cells) {}

  // take() acquires the outer lock; it is called only if the cohort doesn't hold it.
  template <class Take>
  void lock(node& mine, Take take) {
    queue_.lock(mine);
    if (holds_.get()) return;
    take();
    holds_.set(true);
  }

  template <class TryTake>
  bool try_lock(node& mine, TryTake try_take) {
    if (!queue_.try_lock(mine)) return false;
    if (!holds_.get()) {
      if (!try_take()) {
        queue_.unlock(mine);
        return false;
      }
      holds_.set(true);
    }
    return true;
  }

  // leave() releases the outer lock; it is called if no thread of the cohort waits, or after `bound` hand-overs.
  template <class Leave>
  void unlock(node& mine, std::uint32_t bound, Leave leave) {
    const std::uint32_t passes = passes_.get();
    if (passes < bound && queue_.has_waiters(mine)) {
      passes_.set(passes + 1);
    } else {
      passes_.set(0);
      holds_.set(false);
      leave();
    }
    queue_.unlock(mine);
  }

 private:
  ClhQueue<P> queue_;
  typename P::template plain<bool> holds_{false};
  typename P::template plain<std::uint32_t> passes_{0};
};

template <platform::Platform P, std::uint32_t Bound = 64>
class CohortLock {
 public:
  class node {
    friend class CohortLock;
    typename Cohort<P>::node handle;
    Cohort<P>* at = nullptr;
  };

  CohortLock() : CohortLock(platform::Topology()) {}
  explicit CohortLock(const platform::Topology& machine) : machine_(machine) {
    for (std::uint32_t domain = 0; domain != machine.domains(0); ++domain) cohorts_.emplace_back(cells_);
  }

  void lock(node& mine) {
    mine.at = &here();
    mine.at->lock(mine.handle, [this] { outer_.lock(nothing_); });
  }

  bool try_lock(node& mine) {
    mine.at = &here();
    return mine.at->try_lock(mine.handle, [this] { return outer_.try_lock(nothing_); });
  }

  void unlock(node& mine) {
    mine.at->unlock(mine.handle, Bound, [this] { outer_.unlock(nothing_); });
  }

 private:
  Cohort<P>& here() { return cohorts_[machine_.domain(0, P::cpu())]; }

  platform::Topology machine_;
  typename ClhQueue<P>::Cells cells_;
  std::deque<Cohort<P>> cohorts_;
  TtasLock<P> outer_;
  [[no_unique_address]] NoNode nothing_;
};

}  // namespace heddle::sync
