// The test of sleeping beside work that another thread has in its hands. A lost wake-up is a deadlock.
//
// Thread 0 sleeps until the work is finished. Thread 1 looks at all work once and makes no further call. The last thread brings
// what the work needs, and rings. So if thread 1 has looked at the work before it could go on, thread 0 must look again, also
// where it has found the list empty meanwhile. With two works each looks at both, and each needs something of its own.
// `Put::silently`: no thread rings for work that is put back, and the checker must find that.
#pragma once

#include <array>

#include "base/sync/doorbell.hpp"
#include "base/sync/work_list.hpp"
#include "kit.hpp"

namespace heddle::test {

enum class Put { with_a_ring, silently };

template <platform::Platform P, unsigned works, Put put = Put::with_a_ring>
class WorkBody {
  using order = platform::order;
  template <class T>
  using plain = typename P::template plain<T>;

  struct Work {
    plain<Work*> next{nullptr};
    plain<std::uint64_t> turn{0};
    plain<bool> looked_at{false};
    typename P::template atomic<bool> needed{false};
    typename P::template atomic<bool> finished{false};
  };
  struct Links {
    static Work* next(const Work& work) { return work.next.get(); }
    static void set_next(Work& work, Work* other) { work.next.set(other); }
    static std::uint64_t turn(const Work& work) { return work.turn.get(); }
    static void set_turn(Work& work, std::uint64_t turn) { work.turn.set(turn); }
  };
  using List = sync::WorkList<P, Work, Links>;
  using Missed = typename List::Missed;

 public:
  WorkBody(unsigned /*threads*/, unsigned /*rounds*/) {
    for (Work& work : all_) list_.add(work);
  }

  void thread(unsigned id) {
    switch (id) {
      case 0:
        while (!over()) sleep();
        break;
      case 1:
        (void)poll(Missed::reported);
        break;
      default:
        for (Work& work : all_) {
          work.needed.store(true, order::release);
          bell_.wake_blocked();
        }
    }
  }

  void finish() {
    require<P>(over(), "work was left");
    const auto all = list_.begin(Missed::reported);
    require<P>(all.complete && list_.take(all, [](const Work&) { return true; }) == nullptr,
               "finished, and in the list");
  }

 private:
  bool over() const {
    for (const Work& work : all_)
      if (!work.finished.load(order::acquire)) return false;
    return true;
  }
  void sleep() {
    bell_.wait_once([] {}, [this] { return poll(Missed::rung_for) || over(); },
                    [this](std::uint32_t rings) { bell_.sleep(rings); });
  }
  // True if it moved anything, or has to poll again.
  bool poll(Missed missed) {
    bool moved = false;
    const auto look = list_.begin(missed);
    unsigned taken = 0;
    while (Work* const work = list_.take(look, [](const Work&) { return true; })) {
      require<P>(++taken <= works, "looked at twice");
      require<P>(!work->looked_at.get(), "two threads look at one");
      work->looked_at.set(true);
      const bool finished = work->needed.load(order::acquire);
      work->looked_at.set(false);
      const bool ring = finished ? list_.forget(look) : list_.put_back(look, *work);
      if (finished) {
        work->finished.store(true, order::release);
        moved = true;
      }
      if (ring && put == Put::with_a_ring) bell_.wake_blocked();
    }
    if (moved) bell_.wake_blocked();
    return moved || !look.complete;
  }

  std::array<Work, works> all_;
  List list_;
  sync::Doorbell<P, platform::Scope::process> bell_{};
};

}  // namespace heddle::test
