// The tests of who looks for a rank whose user-level threads are suspended: a watch, a kernel thread, which calls them when the rank's
// doorbell has rung. Each body has the steps of the library's engine (messaging/engine/composed_engine.hpp).
//
// ResignBody: thread 0 is a user-level one, whose requests are done by what thread 2 sends; thread 1 is the watch, which takes that,
// unless it is for a step that only the program may take. ResignToBody: a kernel thread waits too, before or after the user-level one
// has stepped down. ListenBody: thread 0 waits for a condition that thread 2 makes true; with a second round, it waits for a request
// first and then leaves something, and thread 2 makes the condition true when the watch has taken that. `Left::unannounced`: a watch that
// sleeps is not told of it.
#pragma once

#include <utility>

#include "doorbell_body.hpp"
#include "roles_body.hpp"

namespace heddle::test {

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

enum class Steps { any_thread, program };

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
      this->watch([this] { return steps == Steps::any_thread ? rank_.poll() : poll_for_program(); },
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
    if (steps == Steps::any_thread) return rank_.poll();
    rank_.poll_steps();
    return rank_.take_steps();
  }
  bool step_down() {
    if (poll() || !rank_.roles.step_down(me_)) return false;
    if (rank_.something_to_do()) rank_.bell.wake_blocked();
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
      wait(me_, [this] { serve_spinning(); });
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
      if (rank_.something_to_do()) rank_.bell.wake_blocked();
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
  void serve_spinning() {
    serving_.set(true);
    while (!me_.counter.complete()) {
      if (rank_.poll()) continue;
      serving_.set(false);
      const bool stepped_down = rank_.roles.step_down(me_);
      if (stepped_down && rank_.something_to_do()) rank_.bell.wake_blocked();
      if (stepped_down && me_.sleep().complete) return;
      serving_.set(true);
    }
    serving_.set(false);
  }

  Waiter other_;
  typename P::template plain<bool> serving_{false};
  typename P::template atomic<std::uint32_t> came_back_{0};
};

template <platform::Platform P, Left left = Left::announced>
class ListenBody : WatchedRank<P> {
  using order = platform::order;
  using WatchedRank<P>::rank_;
  using WatchedRank<P>::me_;

 public:
  ListenBody(unsigned /*threads*/, unsigned rounds) : leaves_(rounds > 1) {}

  void thread(unsigned id) {
    this->begin(id);
    if (id == 0) {
      if (leaves_) {
        wait();
        left_.store(1, order::release);
      }
      listen();
      this->end();
    } else if (id == 1) {
      this->watch([this] { return rank_.poll() || take(); }, [this] { rank_.roles.call_listeners(); });
    } else {
      if (leaves_) {
        rank_.send();
        P::await(taken_, order::acquire, [](std::uint32_t taken) { return taken != 0; });
      }
      datum_.set(1);
      holds_.store(1, order::release);
      rank_.bell.wake_blocked();
    }
  }
  void finish() { require<P>(this->ended(), "the listener has not come back"); }

 private:
  // The watch alone takes the rest.
  bool something_to_do() const { return left_.load(order::relaxed) != 0; }
  bool take() {
    if (left_.load(order::acquire) == 0) return false;
    left_.store(0, order::relaxed);
    taken_.store(1, order::release);
    return true;
  }
  bool holds() const { return holds_.load(order::acquire) != 0; }

  // As the server, which steps down. The watch may be blocked on the doorbell when it is over.
  void wait() {
    me_.expect(1, false);
    rank_.post(me_);
    rank_.roles.enter(me_);
    while (!me_.counter.complete()) {
      if (rank_.roles.step_down(me_)) {
        if (rank_.something_to_do()) rank_.bell.wake_blocked();
        if (me_.sleep().complete) break;
      }
    }
    rank_.roles.leave(me_);
  }
  void listen() {
    bool told = false;
    while (!holds()) {
      me_.expect(1, false);
      rank_.bell.wait_once([] {}, [this] { return holds(); },
                           [&](std::uint32_t rings) {
                             rank_.roles.listen(me_);
                             if (rank_.bell.rings.load(order::acquire) != rings) {
                               rank_.roles.call_listeners();
                             } else if (!std::exchange(told, true) && left == Left::announced && something_to_do()) {
                               rank_.bell.wake_blocked();
                             }
                             me_.sleep();
                           });
    }
    require<P>(datum_.get() == 1, "the condition holds without what came before it");
  }

  const bool leaves_;
  typename P::template plain<unsigned> datum_{0};
  typename P::template atomic<std::uint32_t> holds_{0};
  typename P::template atomic<std::uint32_t> left_{0};
  typename P::template atomic<std::uint32_t> taken_{0};
};

}  // namespace heddle::test
