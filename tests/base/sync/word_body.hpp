// The test of a long message that waits for word of what is on its way, and not for room (messaging/message/protocol/remote/streams.hpp): who sleeps meanwhile
// has asked for no room, and must be woken once the word is there and there is none. A lost wake-up is a deadlock.
//
// Of a message of two pieces one is on its way, and fills the network, and no more may be. Thread 1 sends a short one, polls once and makes
// no further call. Thread 0 waits, blocked if need be, for the answer that the peer, thread 2, gives once it has everything; when it has
// the first piece it says so. Thread 3 is the watch. Where who takes a message does not ring
// (Omitted::taken) the checker must find that.
#pragma once

#include <mutex>

#include "base/sync/doorbell.hpp"
#include "kit.hpp"
#include "watch_body.hpp"

namespace heddle::test {

template <platform::Platform P, Omitted omitted = Omitted::nothing>
class WordBody {
  using order = platform::order;
  template <class T>
  using plain = typename P::template plain<T>;

 public:
  WordBody(unsigned /*threads*/, unsigned /*rounds*/) {}

  void thread(unsigned id) {
    switch (id) {
      case 0:
        while (!answered()) sleep();
        socket_.end();
        break;
      case 1:
        send_short();
        (void)poll();
        break;
      case 2:
        socket_.receive();
        socket_.answer();
        socket_.receive();
        socket_.receive();
        socket_.answer();
        break;
      default:
        while (socket_.await_event()) bell_.wake_blocked();
    }
  }

  void finish() { require<P>(!short_waits_.get() && second_left_.get(), "work was not done"); }

 private:
  bool answered() const { return answered_.load(order::acquire); }

  // The part of message::VniState for one peer, with the lock held.
  bool may_go() const { return heard_.get() && !second_left_.get(); }
  bool flush() {
    bool left = false;
    if (short_waits_.get() && socket_.post()) {
      short_waits_.set(false);
      left = true;
    }
    if (may_go() && socket_.post()) {
      second_left_.set(true);
      left = true;
    }
    return left;
  }

  void sleep() {
    bell_.wait_once(
        [this] {
          const std::lock_guard guard(lock_);
          socket_.want_room(false);
          if (short_waits_.get() || may_go()) socket_.want_room(true);
          socket_.arm();
        },
        [this] { return poll() || answered(); }, [this](std::uint32_t rings) { bell_.sleep(rings); });
    (void)poll();
  }
  // True if anything moved.
  bool poll() {
    bool left = false, taken = false;
    {
      const std::lock_guard guard(lock_);
      left = flush();
      taken = socket_.take_answer();
      if (taken && !heard_.get()) {
        heard_.set(true);
        (void)flush();
      } else if (taken) {
        answered_.store(true, order::release);
      }
    }
    if (taken && omitted != Omitted::taken) bell_.wake_blocked();
    return left || taken;
  }
  void send_short() {
    {
      const std::lock_guard guard(lock_);
      if (socket_.post()) return;
      short_waits_.set(true);
    }
    bell_.wake_blocked();
  }

  typename P::mutex lock_;
  sync::Doorbell<P, platform::Scope::process> bell_{};
  ModelSocket<P> socket_;
  plain<bool> short_waits_{false}, heard_{false}, second_left_{false};
  typename P::template atomic<bool> answered_{false};
};

}  // namespace heddle::test
