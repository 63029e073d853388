// The tests of server roles and of waiters: a rank whose threads wait for requests, and a peer, which sends. Each body has the steps
// of the library's engine (engine/composed_engine.hpp). A lost wake-up, or a role that nobody has, is a deadlock.
//
// ServerBody: the last thread is the peer. The others post a request and wait; the server sleeps on the doorbell, and what it takes
// completes the oldest request, whoever's. `HandOver::left_out`: who leaves as the server tells nobody. `HandOver::unwoken`: it
// elects a successor, and does not wake it. The checker must find both.
//
// ResignBody: thread 0 is a user-level one, whose requests are done by what thread 2 sends; thread 1 is the watch, which takes that,
// unless it is for a step that only the program may take. ResignToBody: a kernel thread waits too, before or after the user-level one
// has stepped down. ListenBody: thread 0 waits for a condition that thread 2 makes true.
#pragma once

#include <array>

#include "kit.hpp"
#include "sync/condition.hpp"
#include "sync/doorbell.hpp"
#include "sync/server_roles.hpp"
#include "sync/ttas_lock.hpp"
#include "sync/waiter.hpp"

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
    bell.rouse();
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
      case sync::Arrival::last_asleep:
        wakeups.add(waiter);
        break;
      case sync::Arrival::last_awake:
        bell.rouse();
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
  void finish() { require<P>(came_back_.get() == threads_ - 1, "somebody waits on"); }

 private:
  const unsigned threads_;
  std::array<typename Thread::Own, MaxThreads> own_;
  Mutex mutex_;
  sync::Condition<P, Mutex, Thread, &Thread::self> condition_;
  typename P::template plain<bool> holds_{false};
  typename P::template plain<unsigned> came_back_{0};
};

enum class HandOver { whole, left_out, unwoken };

// Whoever is forced is not woken.
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
          P::yield();  // or nobody would come to wait
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
      if (rank_.something_to_do()) rank_.bell.rouse();
      server = !me.sleep().complete;
    }
    if (server) serve(me);
    if (!server || hand_over != HandOver::left_out) rank_.roles.leave(me);
  }
  // Who waits longest is elected first, and who has left is not.
  void in_order() {
    std::array<Waiter, 4> several;
    for (Waiter& waiter : several) {
      waiter.expect(1, false);
      rank_.roles.enter(waiter);
    }
    require<P>(several[0].server.get(), "nobody served, and nobody does");
    rank_.roles.leave(several[2]);
    rank_.roles.leave(several[0]);
    require<P>(several[1].server.get() && !several[3].server.get(), "not the first of those who wait");
    rank_.roles.leave(several[1]);
    require<P>(several[3].server.get(), "not the last one who waits");
    rank_.roles.leave(several[3]);
    // Who has left may come again.
    for (const unsigned i : {0, 1, 2}) rank_.roles.enter(several[i]);
    rank_.roles.leave(several[1]);
    rank_.roles.enter(several[1]);
    for (const unsigned i : {0, 2, 1}) rank_.roles.leave(several[i]);
    require<P>(rank_.roles.enter(several[0]), "nobody is left, and yet there is a server");
    // Whoever is called looks once more before it steps down; one that has stepped down serves again, and the watch does not.
    rank_.roles.call_server();
    require<P>(!rank_.roles.step_down(several[0]), "a call was not heard");
    require<P>(rank_.roles.step_down(several[0]) && rank_.roles.is_watch_active(), "nobody serves");
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

// A rank of a user-level thread, 0, with a watch, thread 1: a kernel thread that polls whenever the bell has rung while it is active.
template <platform::Platform P>
class WatchedRank {
  using order = platform::order;

 protected:
  using Rank = WaitingRank<P, sync::KernelCounter<P>, 2>;
  using Thread = typename Rank::Thread;

  void begin(unsigned id) {
    Thread::become(own_[id]);
    if (id == 0) me_.thread = Thread::self();
  }

  // Thread 1. call() is for what has rung.
  template <class Poll, class Call>
  void watch(Poll&& poll, Call&& call) {
    std::uint32_t heard = 0;
    const auto relieved = [&] {
      const std::uint32_t rings = rank_.bell.rings.load(order::acquire);
      if (rings != heard) call();
      heard = rings;
      return !rank_.roles.is_watch_active();
    };
    do {
      rank_.roles.await_active();
      while (!relieved()) {
        rank_.bell.wait_once([] {}, [&] { return poll() || relieved(); },
                             [&](std::uint32_t rings) { rank_.bell.sleep(rings); });
        poll();
      }
    } while (over_.load(order::acquire) == 0);
  }
  // Thread 0: active once more, for the watch to end with.
  void end() {
    over_.store(1, order::release);
    me_.expect(1, false);
    rank_.roles.listen(me_);
    rank_.bell.ring();
  }
  bool ended() const { return over_.load(order::relaxed) != 0; }

  Rank rank_;
  typename Rank::Waiter me_;  // of thread 0

 private:
  std::array<typename Thread::Own, 3> own_;
  typename P::template atomic<std::uint32_t> over_{0};
};

enum class Steps { anybody, program };

template <platform::Platform P, Steps steps>
class ResignBody : WatchedRank<P> {
  using WatchedRank<P>::rank_;
  using WatchedRank<P>::me_;

 public:
  ResignBody(unsigned /*threads*/, unsigned /*rounds*/) {}

  void thread(unsigned id) {
    this->begin(id);
    if (id == 0) {
      wait();
      this->end();
    } else if (id == 1) {
      this->watch([this] { return steps == Steps::anybody ? rank_.poll() : poll_for_program(); },
                  [this] { call_program(); });
    } else {
      rank_.send();
      rank_.send();
    }
  }
  void finish() { require<P>(rank_.nothing_is_left() && this->ended(), "a request is left"); }

 private:
  void wait() {
    me_.expect(2, false);
    rank_.post(me_);
    rank_.post(me_);
    require<P>(rank_.roles.enter(me_), "the only one is not the server");
    for (;;) {
      poll();
      if (me_.counter.complete() || (step_down() && me_.sleep().complete)) break;
    }
    rank_.roles.leave(me_);
  }
  bool poll() {
    if (steps == Steps::anybody) return rank_.poll();
    rank_.poll_steps();
    return rank_.take_steps();
  }
  bool step_down() {
    if (poll() || !rank_.roles.step_down(me_)) return false;
    if (rank_.something_to_do()) rank_.bell.rouse();
    return true;
  }
  bool poll_for_program() {
    const bool moved = rank_.poll_steps();
    if (moved) call_program();
    return moved;
  }
  void call_program() {
    if (steps == Steps::program) rank_.roles.call_server();
    rank_.roles.call_listeners();
  }
};

// Thread 0 is user-level, thread 1 a kernel thread; thread 2 sends for both, and is the watch then.
template <platform::Platform P>
class ResignToBody : WatchedRank<P> {
  using order = platform::order;
  using WatchedRank<P>::rank_;
  using WatchedRank<P>::me_;

 public:
  ResignToBody(unsigned /*threads*/, unsigned /*rounds*/) {}

  void thread(unsigned id) {
    this->begin(id);
    if (id == 2) {
      rank_.send();
      rank_.send();
      this->watch([this] { return rank_.poll(); },
                  [this] {
                    rank_.roles.call_server();
                    rank_.roles.call_listeners();
                  });
    } else if (id == 1) {
      wait(other_, [this] { serve(); });
      came_back_.store(1, order::release);
    } else {
      wait(me_, [this] { serve_awake(); });
      P::await(came_back_, order::acquire, [](std::uint32_t came_back) { return came_back != 0; });
      this->end();
    }
  }
  void finish() { require<P>(rank_.nothing_is_left() && this->ended(), "a request is left"); }

 private:
  using Waiter = typename WatchedRank<P>::Rank::Waiter;

  template <class Serve>
  void wait(Waiter& me, Serve&& serve) {
    me.expect(1, false);
    rank_.post(me);
    bool server = rank_.roles.enter(me);
    if (!server) {
      if (rank_.something_to_do()) rank_.bell.rouse();
      server = !me.sleep().complete;
    }
    if (server) serve();
    rank_.roles.leave(me);
  }
  // One serves at a time: a race for serving_ is found.
  void serve() {
    serving_.set(true);
    while (!other_.counter.complete()) {
      rank_.bell.wait_once([] {}, [&] { return rank_.poll() || other_.counter.complete(); },
                           [this](std::uint32_t rings) { rank_.bell.sleep(rings); });
      rank_.poll();
    }
    serving_.set(false);
  }
  void serve_awake() {
    serving_.set(true);
    while (!me_.counter.complete()) {
      if (rank_.poll()) continue;
      serving_.set(false);
      const bool stepped_down = rank_.roles.step_down(me_);
      if (stepped_down && rank_.something_to_do()) rank_.bell.rouse();
      if (stepped_down && me_.sleep().complete) return;
      serving_.set(true);
    }
    serving_.set(false);
  }

  Waiter other_;
  typename P::template plain<bool> serving_{false};
  typename P::template atomic<std::uint32_t> came_back_{0};
};

template <platform::Platform P>
class ListenBody : WatchedRank<P> {
  using order = platform::order;
  using WatchedRank<P>::rank_;
  using WatchedRank<P>::me_;

 public:
  ListenBody(unsigned /*threads*/, unsigned /*rounds*/) {}

  void thread(unsigned id) {
    this->begin(id);
    if (id == 0) {
      listen();
      this->end();
    } else if (id == 1) {
      this->watch([] { return false; }, [this] { rank_.roles.call_listeners(); });
    } else {
      datum_.set(1);
      holds_.store(1, order::release);
      rank_.bell.rouse();
    }
  }
  void finish() { require<P>(this->ended(), "the listener has not come back"); }

 private:
  bool holds() const { return holds_.load(order::acquire) != 0; }

  void listen() {
    while (!holds()) {
      me_.expect(1, false);
      rank_.bell.wait_once([] {}, [this] { return holds(); },
                           [this](std::uint32_t rings) {
                             rank_.roles.listen(me_);
                             if (rank_.bell.rings.load(order::acquire) != rings) rank_.roles.call_listeners();
                             me_.sleep();
                           });
    }
    require<P>(datum_.get() == 1, "the condition holds without what came before it");
  }

  typename P::template plain<unsigned> datum_{0};
  typename P::template atomic<std::uint32_t> holds_{0};
};

}  // namespace heddle::test
