// The tests of server roles and of waiters: a rank whose threads wait for requests, and a peer, which sends. Each body has the steps
// of the library's engine (messaging/engine/composed_engine.hpp). A lost wake-up, or a role without a thread, is a deadlock.
//
// ServerBody: the last thread is the peer. The others post a request and wait; the server sleeps on the doorbell, and what it takes
// completes the oldest request of any thread. `HandOver::left_out`: a server that leaves elects no other. `HandOver::unwoken`: it
// elects a successor, and does not wake it. The checker must find both.
#pragma once

#include <array>

#include "base/sync/condition.hpp"
#include "base/sync/doorbell.hpp"
#include "base/sync/server_roles.hpp"
#include "base/sync/ttas_lock.hpp"
#include "base/sync/waiter.hpp"
#include "kit.hpp"

namespace heddle::test {

// A thread of a runtime that keeps the promise of every runtime: a resumption may come before the suspension, and is unique.
template <platform::Platform P>
class RuntimeThread {
  using order = platform::order;

 public:
  struct Own {
    typename P::template atomic<std::uint32_t> permits{0};
  };
  RuntimeThread() = default;
  explicit RuntimeThread(Own& own) : own_(&own) {}

  explicit operator bool() const { return own_ != nullptr; }
  void suspend() const {
    P::await(own_->permits, order::acquire, [](std::uint32_t permits) { return permits != 0; });
    own_->permits.exchange(0, order::relaxed);
  }
  void resume() const {
    require<P>(own_->permits.exchange(1, order::release) == 0, "resumed twice for one suspension");
  }

  static RuntimeThread self() { return P::template local<RuntimeThread, RuntimeThread>(); }
  static void become(Own& own) { P::template local<RuntimeThread, RuntimeThread>() = RuntimeThread(own); }

 private:
  Own* own_ = nullptr;
};

// A rank: its requests, what has arrived for it, and its doorbell.
template <platform::Platform P, class Counter, unsigned MaxThreads>
class WaitingRank {
  using order = platform::order;
  template <class T>
  using plain = typename P::template plain<T>;

 public:
  using Thread = RuntimeThread<P>;
  using Waiter = sync::Waiter<P, Thread, Counter>;
  using Bell = sync::Doorbell<P, platform::Scope::process>;
  using Wakeups = sync::Wakeups<Waiter, Bell>;
  using Mutex = typename P::mutex;
  using Roles = sync::ServerRoles<P, Waiter, Mutex, sync::Condition<P, Mutex, Thread, &Thread::self>>;

  Roles roles;
  Bell bell{};

  // The peer.
  void send() {
    arrived_.fetch_add(1, order::release);
    bell.wake_blocked();
  }

  void post(Waiter& waiter) {
    Wakeups wakeups;
    const Locked locked(*this);
    if (unexpected_.get() != 0) {
      unexpected_.set(unexpected_.get() - 1);
      signal(waiter, wakeups);
    } else {
      posted_[end_.get() % MaxThreads].set(&waiter);
      end_.set(end_.get() + 1);
    }
  }
  bool something_to_do() const { return arrived_.load(order::relaxed) != taken_.load(order::relaxed); }
  // Takes what has arrived; whether something had.
  bool poll() {
    Wakeups wakeups;
    const Locked locked(*this);
    const std::uint32_t arrived = arrived_.load(order::acquire);
    const std::uint32_t before = taken_.load(order::relaxed);
    for (std::uint32_t i = before; i != arrived; ++i) take(wakeups);
    taken_.store(arrived, order::relaxed);
    return arrived != before;
  }
  // The same, of messages that are steps of a schedule, which only a thread of the program may take.
  bool poll_steps() {
    const Locked locked(*this);
    const std::uint32_t arrived = arrived_.load(order::acquire);
    const std::uint32_t before = taken_.load(order::relaxed);
    steps_.set(steps_.get() + (arrived - before));
    taken_.store(arrived, order::relaxed);
    return arrived != before;
  }
  bool take_steps() {
    Wakeups wakeups;
    const Locked locked(*this);
    const unsigned steps = steps_.get();
    for (unsigned i = 0; i != steps; ++i) take(wakeups);
    steps_.set(0);
    return steps != 0;
  }

  bool nothing_is_left() const {
    return begin_.get() == end_.get() && unexpected_.get() == 0 && steps_.get() == 0 && !something_to_do();
  }

 private:
  struct Locked {
    explicit Locked(WaitingRank& r) : rank(r) { rank.lock_.lock(); }
    ~Locked() { rank.lock_.unlock(); }
    WaitingRank& rank;
  };

  void take(Wakeups& wakeups) {
    if (begin_.get() == end_.get()) return unexpected_.set(unexpected_.get() + 1);
    Waiter& waiter = *posted_[begin_.get() % MaxThreads].get();
    begin_.set(begin_.get() + 1);
    signal(waiter, wakeups);
  }
  void signal(Waiter& waiter, Wakeups& wakeups) {
    switch (waiter.arrive()) {
      case sync::Arrival::more_to_come:
        break;
      case sync::Arrival::last_blocked:
        wakeups.add(waiter);
        break;
      case sync::Arrival::last_spinning:
        bell.wake_blocked();
        break;
    }
  }

  Mutex lock_;
  typename P::template atomic<std::uint32_t> arrived_{0};
  typename P::template atomic<std::uint32_t> taken_{0};
  std::array<plain<Waiter*>, MaxThreads> posted_;
  plain<unsigned> begin_{0};
  plain<unsigned> end_{0};
  plain<unsigned> unexpected_{0};
  plain<unsigned> steps_{0};
};

// Threads that wait for a condition, and the last one, which makes it true.
template <platform::Platform P, unsigned MaxThreads>
class ConditionBody {
  using Thread = RuntimeThread<P>;
  using Mutex = typename P::mutex;

 public:
  ConditionBody(unsigned threads, unsigned /*rounds*/) : threads_(threads) {}

  void thread(unsigned id) {
    Thread::become(own_[id]);
    std::unique_lock<Mutex> held(mutex_);
    if (id != threads_ - 1) {
      while (!holds_.get()) condition_.wait(held);
      came_back_.set(came_back_.get() + 1);
    } else {
      holds_.set(true);
      condition_.notify_all();
    }
  }
  void finish() { require<P>(came_back_.get() == threads_ - 1, "a thread waits on"); }

 private:
  const unsigned threads_;
  std::array<typename Thread::Own, MaxThreads> own_;
  Mutex mutex_;
  sync::Condition<P, Mutex, Thread, &Thread::self> condition_;
  typename P::template plain<bool> holds_{false};
  typename P::template plain<unsigned> came_back_{0};
};

enum class HandOver { whole, left_out, unwoken };

// A forced thread is not woken.
template <platform::Platform P>
struct UnforcedCounter : sync::KernelCounter<P> {
  bool mark_forced() { return sync::KernelCounter<P>::mark_forced() && false; }
};

template <platform::Platform P, unsigned MaxThreads, HandOver hand_over = HandOver::whole>
class ServerBody {
  using Counter = std::conditional_t<hand_over == HandOver::unwoken, UnforcedCounter<P>, sync::KernelCounter<P>>;
  using Rank = WaitingRank<P, Counter, MaxThreads>;
  using Waiter = typename Rank::Waiter;

 public:
  ServerBody(unsigned threads, unsigned rounds) : waiting_(threads - 1), rounds_(rounds) {}

  void thread(unsigned id) {
    for (unsigned round = 0; round != rounds_; ++round) {
      if (id != waiting_) {
        wait(waiters_[id], (id + round) % 2 == 0);
        ++done_[id];
      } else {
        for (unsigned i = 0; i != waiting_; ++i) {
          P::yield();  // or no thread would come to wait
          rank_.send();
        }
      }
    }
  }
  void finish() {
    require<P>(rank_.nothing_is_left(), "requests are left");
    for (unsigned id = 0; id != waiting_; ++id) require<P>(done_[id] == rounds_, "a thread has not come back");
    if (hand_over == HandOver::whole) in_order();
  }

 private:
  void wait(Waiter& me, bool any) {
    me.expect(1, any);
    rank_.post(me);
    bool server = rank_.roles.enter(me);
    if (!server) {
      if (rank_.something_to_do()) rank_.bell.wake_blocked();
      server = !me.sleep().complete;
    }
    if (server) serve(me);
    if (!server || hand_over != HandOver::left_out) rank_.roles.leave(me);
  }
  // The longest waiting thread is elected first, and one that has left is not.
  void in_order() {
    std::array<Waiter, 4> several;
    for (Waiter& waiter : several) {
      waiter.expect(1, false);
      rank_.roles.enter(waiter);
    }
    require<P>(several[0].server.get(), "no thread served, and none does");
    rank_.roles.leave(several[2]);
    rank_.roles.leave(several[0]);
    require<P>(several[1].server.get() && !several[3].server.get(), "not the first of those who wait");
    rank_.roles.leave(several[1]);
    require<P>(several[3].server.get(), "not the last one who waits");
    rank_.roles.leave(several[3]);
    // A thread that has left may come again.
    for (const unsigned i : {0, 1, 2}) rank_.roles.enter(several[i]);
    rank_.roles.leave(several[1]);
    rank_.roles.enter(several[1]);
    for (const unsigned i : {0, 2, 1}) rank_.roles.leave(several[i]);
    require<P>(rank_.roles.enter(several[0]), "no thread is left, and yet there is a server");
    // A called thread polls once more before it steps down; one that has stepped down serves again, and the watch does not.
    rank_.roles.call_server();
    require<P>(!rank_.roles.step_down(several[0]), "a call was not heard");
    require<P>(rank_.roles.step_down(several[0]) && rank_.roles.is_watch_active(), "no thread serves");
    rank_.roles.call_server();
    require<P>(several[0].server.get() && !rank_.roles.is_watch_active(), "two serve");
    rank_.roles.leave(several[0]);
  }

  // One thread at a time: a race for serving_ is found.
  void serve(Waiter& me) {
    serving_.set(true);
    while (!me.counter.complete()) {
      rank_.bell.wait_once([] {}, [&] { return rank_.poll() || me.counter.complete(); },
                           [this](std::uint32_t rings) { rank_.bell.sleep(rings); });
      rank_.poll();
    }
    serving_.set(false);
  }

  const unsigned waiting_;
  const unsigned rounds_;
  Rank rank_;
  typename P::template plain<bool> serving_{false};
  std::array<Waiter, MaxThreads> waiters_;
  std::array<unsigned, MaxThreads> done_{};
};

}  // namespace heddle::test
