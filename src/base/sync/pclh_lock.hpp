// P-CLH: two classes of caller, FIFO within each; the low class is served while no thread of the high class waits.
//
// Source: Amer et al., PPoPP 2015 and ANL P6005-0516 (the priority ticket lock, over CLH); the lock of the model
// `p-clh` of Dang 2017. As there, three locks: a queue for each class, and one lock, `door_`, for which only the heads
// of the two queues compete. The high class keeps the door closed behind itself while it has a successor.
//
// The papers let it do so without end. But threads that test for completion belong to the high class too, once they
// have failed a few times, and may test for something that a thread of the low class has to do: with more threads than
// cores such testers always had a successor, and threads that waited stood in the low queue for minutes with all they
// waited for done. So the door opens after `most_in_a_row` hand-overs.
//
// Invariants: the owner of the lock has come through the door, or was handed it by its predecessor of the high class.
// wanted_ counts the high callers that wait at the door. Safety: mutual exclusion. Progress: deadlock free; FIFO within
// a class; the low class can starve in theory, as the head of the high one may be the first at the open door each time:
// active threads advance the system, waiting ones only poll. Priority: a low caller goes ahead of a high one only if it
// came through the door before that one was at the head of its queue. (The head of the low class never queues at the
// door; it tries when no other thread wants it.) When: as the lock of a VNI whose waiting threads poll. With more
// threads than cores it collapses as CLH does.
//
// Memory orders: wanted_ is relaxed throughout: it only decides which thread tries. The door hands the critical section
// over between classes, the high queue within its class; door_ is unlocked by another thread than locked it, and the
// queue orders the two.
#pragma once

#include "base/platform/platform.hpp"
#include "base/sync/cohort_lock.hpp"

namespace heddle::sync {

// The way of the low class: FIFO among itself, and through a door only when the high class doesn't want it.
template <platform::Platform P>
class LowClass {
  using order = platform::order;

 public:
  using node = typename ClhQueue<P>::node;

  explicit LowClass(typename ClhQueue<P>::Cells& cells) : queue_(cells) {}

  void pass(TtasLock<P>& door, node& mine) {
    queue_.lock(mine);
    NoNode nothing;
    do {
      P::await(wanted_, order::relaxed, [](std::uint32_t wanted) { return wanted == 0; });
      door.await_free();
    } while (wanted_.load(order::relaxed) != 0 || !door.try_lock(nothing));
    queue_.unlock(mine);
  }

  // The low class stays back from when a high caller comes to wait until it has gone through, or has found no memory for its node.
  class HeldBack {
   public:
    explicit HeldBack(LowClass& low) : low_(low) { low_.wanted_.fetch_add(1, order::relaxed); }
    ~HeldBack() { low_.wanted_.fetch_sub(1, order::relaxed); }
    HeldBack(const HeldBack&) = delete;
    HeldBack& operator=(const HeldBack&) = delete;

   private:
    LowClass& low_;
  };

 private:
  ClhQueue<P> queue_;
  typename P::template atomic<std::uint32_t> wanted_{0};
};

template <platform::Platform P>
class PClhLock {
 public:
  class node {
    friend class PClhLock;
    typename ClhQueue<P>::node handle;
    bool high = false;
  };

  void lock(node& mine) {
    mine.high = true;
    high_.lock(mine.handle, [this] {
      if (door_.try_lock(nothing_)) return;
      const typename LowClass<P>::HeldBack held_back(low_);
      door_.lock(nothing_);
    });
  }

  bool try_lock(node& mine) {
    mine.high = true;
    return high_.try_lock(mine.handle, [this] { return door_.try_lock(nothing_); });
  }

  void lock_low(node& mine) {
    mine.high = false;
    low_.pass(door_, mine.handle);
  }

  void unlock(node& mine) {
    if (mine.high) {
      high_.unlock(mine.handle, most_in_a_row, [this] { door_.unlock(nothing_); });
    } else {
      door_.unlock(nothing_);
    }
  }

 private:
  static constexpr std::uint32_t most_in_a_row = 64;

  typename ClhQueue<P>::Cells cells_;
  Cohort<P> high_{cells_};
  LowClass<P> low_{cells_};
  TtasLock<P> door_;
  [[no_unique_address]] NoNode nothing_;
};

}  // namespace heddle::sync
