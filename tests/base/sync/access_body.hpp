// The tests of the kinds of access to a VNI, whose state is a plain counter here.
//
// AccessBody: threads enter in every way that the kind has, and leave work behind where it takes some. Each piece is executed once and
// alone, that of one thread in order, and before what the same thread runs later. Where there is a communication thread, it is
// thread 0, which sleeps when nothing is left for it.
//
// HandedOnBody: who has been told by another thread of work that this one has left finds it done, in whatever way it enters itself,
// while a third thread is leaving some. Where there is a communication thread it is the one that is told.
//
// LeftWorkBody: threads leave work in the queue, while the last one has the lock now and then; when all have gone, nothing is left.
#pragma once

#include <array>
#include <ostream>

#include "base/safety/combining_access.hpp"
#include "base/safety/environment.hpp"
#include "base/safety/flux_access.hpp"
#include "base/safety/inject_access.hpp"
#include "base/safety/offload_access.hpp"
#include "base/safety/queue_access.hpp"
#include "base/safety/split_access.hpp"
#include "base/sync/clhub_lock.hpp"
#include "base/sync/doorbell.hpp"
#include "base/sync/futex_lock.hpp"
#include "base/sync/mcs_lock.hpp"
#include "base/sync/mutex_lock.hpp"
#include "base/sync/ttas_lock.hpp"
#include "doorbell_body.hpp"
#include "kit.hpp"

namespace heddle::safety {

// For the checker, which prints what a cell held.
template <class Wakeups>
std::ostream& operator<<(std::ostream& out, const Work<Wakeups>& work) {
  return out << work.what;
}

}  // namespace heddle::safety

namespace heddle::test {

// Nothing is counted, and nodes live as long as an acquisition.
template <platform::Platform P>
struct Bare {
  using Platform = P;
  struct Wakeups {};
  struct Counters {};
  template <class Node>
  class NodeFor {
   public:
    explicit NodeFor(const void*) {}
    Node& operator*() const { return node_; }

   private:
    mutable Node node_;
  };
  template <class Node>
  using KeptNode = NodeFor<Node>;

  template <sync::Lock L>
  static void acquire(Counters&, L& lock, typename L::node& node) {
    lock.lock(node);
  }
  template <sync::Lock L>
  static void acquire_low(Counters&, L& lock, typename L::node& node) {
    sync::lock_low(lock, node);
  }
  template <sync::Lock L>
  static void acquire_beside(Counters&, L& lock, typename L::node& node) {
    lock.lock(node);
  }
  template <sync::Lock L>
  static bool try_acquire(Counters&, L& lock, typename L::node& node) {
    return lock.try_lock(node);
  }
  static void combined(Counters&, std::uint64_t) {}
  static void count_acquisition(Counters&) {}
  static bool counting() { return false; }
};
// Where the communication thread of offload sleeps.
template <platform::Platform P>
struct WokenState {
  sync::Doorbell<P, platform::Scope::process> bell{};
  void wake() { bell.wake_blocked(); }
};

template <platform::Platform P>
using Accesses = CaseList<                                                        //
    Case<"lock", safety::LockAccess<sync::McsLock<P>, Bare<P>>>,                  //
    Case<"lock-two-classes", safety::LockAccess<sync::ClhubLock<P>, Bare<P>>>,    //
    Case<"inject", safety::InjectAccess<sync::FutexLock<P>, Bare<P>>>,            //
    Case<"flux", safety::FluxAccess<sync::MutexLock<P>, Bare<P>>>,                //
    Case<"split", safety::SplitAccess<sync::TtasLock<P>, Bare<P>>>,               //
    Case<"combining", safety::CombiningAccess<Bare<P>, 2>>,                       //
    Case<"queue", safety::QueueAccess<sync::TtasLock<P>, Bare<P>, 1, 2>>,         //
    Case<"queue-mutex", safety::QueueAccess<sync::MutexLock<P>, Bare<P>, 2, 4>>,  //
    Case<"offload", safety::OffloadAccess<WokenState<P>, Bare<P>, 2>>>;

template <class Access>
inline constexpr bool is_served = requires(Access& access) {
  access.serve();
};

template <platform::Platform P, class Access, unsigned MaxThreads>
class AccessBody {
  using Wakeups = typename Bare<P>::Wakeups;
  using order = platform::order;
  template <class T>
  using plain = typename P::template plain<T>;
  static constexpr bool served = is_served<Access>;

 public:
  AccessBody(unsigned threads, unsigned rounds) : threads_(threads), rounds_(rounds) {}

  void thread(unsigned id) {
    if (served && id == 0) return serve();
    for (unsigned round = 0; round != rounds_; ++round) enter(id, round);
    // The work that it has left is done before this.
    const auto last = [&](Wakeups&) {
      tick();
      require<P>(!Access::submits || left_[id].executed.get() == left_[id].left, "work that was left has been lost");
    };
    access_.run(last);
    finished_.fetch_add(1, order::release);
    state_.wake();
  }

  void finish() {
    require<P>(ticks_.get() == entered() * (rounds_ + 1), "an operation was lost, or done twice");
    require<P>(injected_.get() == (locks_for_injection ? entered() * rounds_ : 0), "an injection was lost");
    require<P>(!access_.pending(), "work is left");
  }

 private:
  // Work that a thread leaves, again and again.
  struct Left {
    AccessBody* body = nullptr;
    unsigned left = 0;  // by its thread
    plain<unsigned> executed{0};
  };
  static constexpr bool locks_for_injection =
      std::is_base_of_v<safety::SplitAccess<sync::TtasLock<P>, Bare<P>>, Access>;

  unsigned entered() const { return threads_ - (served ? 1 : 0); }
  void tick() { ticks_.set(ticks_.get() + 1); }

  void enter(unsigned id, unsigned round) {
    const auto work = [this, id](Wakeups&) {
      tick();
      seen_[id].set(ticks_.get());
    };
    seen_[id].set(0);
    bool waited = true;
    switch ((id + round) % 4) {
      case 0:
        leave_or_run(id);
        waited = false;
        break;
      case 1:
        access_.run_low(work);
        break;
      case 2:
        waited = access_.try_run(work);
        if (!waited) leave_or_run(id);
        break;
      default:
        access_.run(work);
    }
    require<P>(!waited || seen_[id].get() != 0, "returned before it was done");
    if constexpr (locks_for_injection) {
      (void)access_.inject([this] {
        injected_.set(injected_.get() + 1);
        return true;
      });
    }
  }
  void leave_or_run(unsigned id) {
    if constexpr (Access::submits) {
      Left& mine = left_[id];
      mine.body = this;
      ++mine.left;
      const typename Access::Work work{[](void* what, Wakeups&) {
                                         Left& left = *static_cast<Left*>(what);
                                         left.body->tick();
                                         left.executed.set(left.executed.get() + 1);
                                       },
                                       &mine};
      access_.submit(work);
    } else {
      const auto work = [this](Wakeups&) { tick(); };
      access_.run(work);
    }
  }

  // The parts of the access.
  auto& source() {
    if constexpr (served) {
      return state_;
    } else {
      return counters_;
    }
  }

  // The communication thread.
  void serve() {
    if constexpr (served) {
      access_.serve();
      const auto over = [this] { return finished_.load(order::acquire) == entered(); };
      const auto done = [&] {
        if (access_.pending()) access_.run_low([](Wakeups&) {});
        return over();
      };
      while (!done()) state_.bell.wait_once([] {}, done, [this](std::uint32_t rings) { state_.bell.sleep(rings); });
    }
  }

  const unsigned threads_;
  const unsigned rounds_;
  typename Bare<P>::Counters counters_;
  WokenState<P> state_;
  Access access_{source()};
  plain<unsigned> ticks_{0};
  plain<unsigned> injected_{0};
  std::array<Left, MaxThreads> left_;
  std::array<plain<unsigned>, MaxThreads> seen_;  // what each has done itself, or had done
  typename P::template atomic<std::uint32_t> finished_{0};
};

template <platform::Platform P, class Access>
class HandedOnBody {
  using Wakeups = typename Bare<P>::Wakeups;
  using order = platform::order;

 public:
  HandedOnBody(unsigned threads, unsigned rounds) : threads_(threads), rounds_(rounds) {}

  void thread(unsigned id) {
    if (id == 0) return be_told();
    for (unsigned round = 0; round != rounds_; ++round) {
      access_.submit({[](void* what, Wakeups&) { static_cast<Count*>(what)->add(); }, &done_[id]});
      told_[id].store(round + 1, order::release);
    }
  }
  void finish() {
    for (unsigned id = 1; id != threads_; ++id) require<P>(done_[id].value.get() == rounds_, "work was lost");
    require<P>(!access_.pending(), "work is left");
  }

 private:
  struct Count {
    typename P::template plain<unsigned> value{0};
    void add() { value.set(value.get() + 1); }
  };
  // The work that thread 0 leaves after so many wake-ups.
  struct Check {
    HandedOnBody* body;
    unsigned told;
  };

  void be_told() {
    if constexpr (is_served<Access>) access_.serve();
    for (unsigned round = 0; round != rounds_; ++round) {
      await(1, round + 1);
      Check check{this, round + 1};
      if (round % 2 == 0) {
        access_.submit({[](void* what, Wakeups&) { look(*static_cast<Check*>(what)); }, &check});
        access_.run([](Wakeups&) {});  // so that the check is over
      } else {
        access_.run([&](Wakeups&) { look(check); });
      }
    }
    for (unsigned id = 2; id < threads_; ++id) await(id, rounds_);
    access_.run([](Wakeups&) {});
  }
  void await(unsigned id, std::uint32_t rounds) {
    P::await(told_[id], order::acquire, [rounds](std::uint32_t told) { return told >= rounds; });
  }
  static void look(const Check& check) {
    require<P>(check.body->done_[1].value.get() >= check.told, "overtook what was left before it");
  }

  auto& source() {
    if constexpr (is_served<Access>) {
      return state_;
    } else {
      return counters_;
    }
  }

  const unsigned threads_;
  const unsigned rounds_;
  typename Bare<P>::Counters counters_;
  WokenState<P> state_;
  Access access_{source()};
  std::array<Count, 3> done_{};
  std::array<typename P::template atomic<std::uint32_t>, 3> told_{};
};

template <platform::Platform P>
class LeftWorkBody {
  using Access = safety::QueueAccess<sync::TtasLock<P>, Bare<P>, 2, 2>;
  using Wakeups = typename Bare<P>::Wakeups;

 public:
  LeftWorkBody(unsigned threads, unsigned rounds) : threads_(threads), rounds_(rounds) {}

  void thread(unsigned id) {
    for (unsigned round = 0; round != rounds_; ++round) {
      if (id == threads_ - 1) {
        access_.run([](Wakeups&) {});
      } else {
        access_.submit({[](void* what, Wakeups&) { static_cast<LeftWorkBody*>(what)->execute(); }, this});
      }
    }
  }
  void finish() { require<P>(executed_.get() == (threads_ - 1) * rounds_ && !access_.pending(), "work is left"); }

 private:
  void execute() { executed_.set(executed_.get() + 1); }

  const unsigned threads_;
  const unsigned rounds_;
  typename Bare<P>::Counters counters_;
  Access access_{counters_};
  typename P::template plain<unsigned> executed_{0};
};

}  // namespace heddle::test
