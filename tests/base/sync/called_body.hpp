// The test of work that is in the work list only while it is called for. A lost wake-up is a deadlock.
//
// Each of the last threads brings pieces of work: it stores one and calls. Thread 0 sleeps until all pieces are done. Thread 1 polls once,
// and makes no further call. `Calls::silently`: a call wakes only where it adds the work to the list, and the checker must find that work
// may be left to no thread: the poll of thread 1 keeps work in the list that a first poll does not finish.
#pragma once

#include "base/sync/called_work.hpp"
#include "base/sync/doorbell.hpp"
#include "base/sync/work_list.hpp"
#include "kit.hpp"

namespace heddle::test {

enum class Calls { with_a_ring, silently };

template <platform::Platform P, Calls calls = Calls::with_a_ring>
class CalledBody {
  using order = platform::order;
  using Called = sync::CalledWork<P>;

  struct Work {
    Work* next = nullptr;
    std::uint64_t turn = 0;
  };
  struct Links {
    static Work* next(const Work& work) { return work.next; }
    static void set_next(Work& work, Work* other) { work.next = other; }
    static std::uint64_t turn(const Work& work) { return work.turn; }
    static void set_turn(Work& work, std::uint64_t turn) { work.turn = turn; }
  };
  using List = sync::WorkList<P, Work, Links>;
  using Missed = typename List::Missed;

 public:
  CalledBody(unsigned threads, unsigned rounds) : rounds_(rounds), wanted_((threads - 2) * rounds) {}

  void thread(unsigned id) {
    switch (id) {
      case 0:
        while (!over()) sleep();
        break;
      case 1:
        (void)poll(Missed::reported);
        break;
      default:
        for (unsigned round = 0; round != rounds_; ++round) {
          brought_.fetch_add(1, order::release);
          call();
        }
    }
  }

  void finish() {
    require<P>(over(), "work was left");
    const auto all = list_.begin(Missed::reported);
    require<P>(all.complete, "in a thread's hands");
    const bool there = list_.take(all, [](const Work&) { return true; }) != nullptr;
    require<P>(there == called_.is_called(), "in the list, or called, and not both");
  }

 private:
  bool over() const { return done_.load(order::acquire) == wanted_; }
  void sleep() {
    bell_.wait_once([] {}, [this] { return poll(Missed::rung_for) || over(); },
                    [this](std::uint32_t rings) { bell_.sleep(rings); });
  }
  void call() {
    const auto what = called_.call();
    if (what == Called::Call::add) list_.add(work_);
    if (what == Called::Call::add || (what == Called::Call::wake && calls == Calls::with_a_ring)) bell_.wake_blocked();
  }
  // A poll looks for pieces only after a call. The work stays in the list until all are done, as what another event finishes.
  bool poll(Missed missed) {
    const auto look = list_.begin(missed);
    Work* const work = list_.take(look, [](const Work&) { return true; });
    if (work == nullptr) return !look.complete;
    require<P>(polling_.exchange(1, order::relaxed) == 0, "two threads poll it");
    const bool was_called = called_.begin_poll();
    const std::uint32_t there = was_called ? brought_.load(order::acquire) : done_.load(order::relaxed);
    const bool moved = done_.exchange(there, order::release) != there;
    polling_.store(0, order::relaxed);
    const bool over_now = there == wanted_;
    const bool ended = over_now && called_.end_poll();
    const bool ring = ended ? list_.forget(look) : list_.put_back(look, *work);
    if (ring || over_now) bell_.wake_blocked();
    return moved || !look.complete || (over_now && !ended);
  }

  const unsigned rounds_;
  const std::uint32_t wanted_;
  Work work_;
  List list_;
  Called called_;
  typename P::template atomic<std::uint32_t> brought_{0};
  typename P::template atomic<std::uint32_t> done_{0};
  typename P::template atomic<std::uint32_t> polling_{0};
  sync::Doorbell<P, platform::Scope::process> bell_{};
};

}  // namespace heddle::test
