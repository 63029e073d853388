// HMCS: a tree of MCS locks that follows the machine; a lock is handed over inside a domain before it leaves it.
//
// Source: Chabbi, Fagan and Mellor-Crummey, PPoPP 2015; the lock of the models `hmcs2-usc` and `hmcs3-usc` of Amer
// 2019. Levels counts the root: 2 means one lock per domain of the finest level, and the root; 3 adds a level.
//
// Invariants: the owner of the root owns the lock. A domain's queue has its node in the queue of its parent while one
// of its members owns or waits for the parent. `status` of the owner's node counts how often the parent has been handed
// on inside the domain; at most Bound times in a row. Safety: mutual exclusion. Progress: starvation free. FIFO inside
// a domain and among domains; a thread is overtaken by members of other domains at most Bound times per level. When:
// many cores on several NUMA nodes, all waiters running. On a single node it is an MCS lock that does more; with more
// threads than cores it collapses as MCS does.
//
// Memory orders: on each level as in McsLock (mcs_lock.hpp), `status` in the place of `granted`. The owner's own read
// of its status is relaxed: it has acquired when it was granted. The node that stands for a domain in its parent's
// queue is written by one member after the other; they are ordered by the hand-over inside the domain.
#pragma once

#include <memory>

#include "base/platform/platform.hpp"
#include "base/platform/topology.hpp"

namespace heddle::sync {

template <platform::Platform P, unsigned Levels, std::uint32_t Bound = 64>
class HmcsLock {
  static_assert(Levels >= 2, "one level is McsLock");
  using order = platform::order;

  // Values of status; from cohort_start on it counts hand-overs inside the domain.
  static constexpr std::uint32_t waiting = 0;
  static constexpr std::uint32_t acquire_parent = 1;
  static constexpr std::uint32_t cohort_start = 2;

  struct Entry {
    typename P::template atomic<Entry*> next{nullptr};
    typename P::template atomic<std::uint32_t> status{waiting};
  };

  struct alignas(platform::cache_line) Domain {
    typename P::template atomic<Entry*> tail{nullptr};
    Domain* parent = nullptr;
    Entry entry;  // stands for this domain in its parent's queue
  };

 public:
  class node {
    friend class HmcsLock;
    Entry entry;
    Domain* home = nullptr;
  };

  HmcsLock() : HmcsLock(platform::Topology()) {}
  explicit HmcsLock(const platform::Topology& machine)
      : processors_(machine.processors()), home_of_(std::make_unique<Domain*[]>(processors_ + 1)) {
    for (unsigned level = 0; level != Levels - 1; ++level) {
      levels_[level] = std::make_unique<Domain[]>(machine.domains(level));
    }
    for (std::size_t processor = 0; processor <= processors_; ++processor) {
      for (unsigned level = 0; level != Levels - 1; ++level) {
        levels_[level][machine.domain(level, processor)].parent =
            level + 2 == Levels ? &root_ : &levels_[level + 1][machine.domain(level + 1, processor)];
      }
      home_of_[processor] = &levels_[0][machine.domain(0, processor)];
    }
  }

  void lock(node& mine) {
    mine.home = home();
    acquire<Levels>(*mine.home, mine.entry);
  }

  bool try_lock(node& mine) {
    mine.home = home();
    return try_acquire<Levels>(*mine.home, mine.entry);
  }

  void unlock(node& mine) { release<Levels>(*mine.home, mine.entry); }

 private:
  Domain* home() const {
    const std::size_t processor = P::cpu();
    return home_of_[processor < processors_ ? processor : processors_];
  }

  template <unsigned Level>
  void acquire(Domain& domain, Entry& mine) {
    mine.next.store(nullptr, order::relaxed);
    mine.status.store(waiting, order::relaxed);
    Entry* const before = domain.tail.exchange(&mine, order::acq_rel);
    if (before != nullptr) {
      before->next.store(&mine, order::release);
      const std::uint32_t status = P::await(mine.status, order::acquire, [](std::uint32_t s) { return s != waiting; });
      if (status != acquire_parent) return;
    }
    if constexpr (Level > 1) {
      mine.status.store(cohort_start, order::relaxed);
      acquire<Level - 1>(*domain.parent, domain.entry);
    }
  }

  template <unsigned Level>
  bool try_acquire(Domain& domain, Entry& mine) {
    mine.next.store(nullptr, order::relaxed);
    mine.status.store(cohort_start, order::relaxed);
    Entry* none = nullptr;
    if (!domain.tail.compare_exchange(none, &mine, order::acq_rel, order::relaxed)) return false;
    if constexpr (Level > 1) {
      if (!try_acquire<Level - 1>(*domain.parent, domain.entry)) {
        leave(domain, mine, acquire_parent);
        return false;
      }
    }
    return true;
  }

  template <unsigned Level>
  void release(Domain& domain, Entry& mine) {
    if constexpr (Level > 1) {
      const std::uint32_t status = mine.status.load(order::relaxed);
      if (status - cohort_start < Bound) {
        if (Entry* const after = mine.next.load(order::acquire)) {
          after->status.store(status + 1, order::release);
          return;
        }
      }
      release<Level - 1>(*domain.parent, domain.entry);
      leave(domain, mine, acquire_parent);
    } else {
      leave(domain, mine, cohort_start);
    }
  }

  // Leaves the queue of a domain and passes `told` to the successor, if there is one.
  void leave(Domain& domain, Entry& mine, std::uint32_t told) {
    Entry* after = mine.next.load(order::acquire);
    if (after == nullptr) {
      Entry* last = &mine;
      if (domain.tail.compare_exchange(last, nullptr, order::release, order::relaxed)) return;
      after = P::await(mine.next, order::acquire, [](Entry* linked) { return linked != nullptr; });
    }
    after->status.store(told, order::release);
  }

  std::size_t processors_;
  std::unique_ptr<Domain*[]> home_of_;  // of each processor; the last for those that the topology doesn't know
  std::unique_ptr<Domain[]> levels_[Levels - 1];
  Domain root_;
};

}  // namespace heddle::sync
