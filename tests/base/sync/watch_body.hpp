// The test of sleeping for a network that rings no doorbell: what arrives, and room for what waits, shows at a descriptor, on which
// a thread of the library sleeps; it rings for those who have armed it (network/watch.hpp, network/route.hpp). A lost wake-up is a deadlock.
//
// Thread 0 waits, blocked if need be, for the answer that the peer, thread 2, gives once it has everything. Thread 1 sends more
// messages than the network has room for; what finds none goes to the backlog. Then it polls once, as a test does, and makes no
// further call: it may take the answer, or send a part of what waits. Thread 3 is the watch. The step named by `Left` is left out, and the
// checker must find that.
#pragma once

#include <array>
#include <mutex>

#include "base/sync/backlog.hpp"
#include "base/sync/doorbell.hpp"
#include "kit.hpp"

namespace heddle::test {

enum class Omitted {
  nothing,
  append,  // who leaves the first message that waits rings
  taken,   // who takes a message rings: the watch finds nothing any more
  room,    // who sleeps asks for room
  arming,  // who sleeps arms the watch
};

// The kernel's end of a network with room for one message, which is taken up at first, and a watch of it that tells once: it can be
// read while an answer is there, or while there is room that was asked for.
template <platform::Platform P>
class ModelSocket {
  using order = platform::order;
  template <class T>
  using plain = typename P::template plain<T>;

 public:
  bool post() {
    const std::lock_guard guard(mutex_);
    if (full_.get()) return false;
    full_.set(true);
    change();
    return true;
  }
  bool take_answer() {
    const std::lock_guard guard(mutex_);
    const bool there = answer_.get();
    answer_.set(false);
    return there;
  }
  void want_room(bool wanted) {
    const std::lock_guard guard(mutex_);
    room_wanted_.set(wanted);
    change();
  }
  void arm() {
    const std::lock_guard guard(mutex_);
    armed_.set(true);
    change();
  }
  // The watch: false when all is over.
  bool await_event() {
    bool over = false;
    await([&] {
      over = over_.get();
      const bool happened = armed_.get() && (answer_.get() || (room_wanted_.get() && !full_.get()));
      if (happened) armed_.set(false);
      return over || happened;
    });
    return !over;
  }
  void end() {
    const std::lock_guard guard(mutex_);
    over_.set(true);
    change();
  }

  // The peer.
  void receive() {
    await([&] {
      const bool there = full_.get();
      full_.set(false);
      if (there) change();
      return there;
    });
  }
  void answer() {
    const std::lock_guard guard(mutex_);
    answer_.set(true);
    change();
  }

 private:
  void change() { changes_.fetch_add(1, order::release); }
  template <class F>
  void await(F&& happened) {
    for (;;) {
      std::uint32_t seen;
      {
        const std::lock_guard guard(mutex_);
        if (happened()) return;
        seen = changes_.load(order::relaxed);
      }
      P::await(changes_, order::acquire, [seen](std::uint32_t now) { return now != seen; });
    }
  }

  typename P::mutex mutex_;
  typename P::template atomic<std::uint32_t> changes_{0};
  plain<bool> full_{true}, answer_{false}, room_wanted_{false}, armed_{false}, over_{false};
};

template <platform::Platform P, bool polls = false, Omitted omitted = Omitted::nothing>
class WatchBody {
  using order = platform::order;
  template <class T>
  using plain = typename P::template plain<T>;

  struct Message {
    plain<Message*> next{nullptr};
  };
  struct Links {
    static Message* next(const Message& message) { return message.next.get(); }
    static void set_next(Message& message, Message* other) { message.next.set(other); }
  };
  static constexpr unsigned most = 2;

 public:
  // Rounds: messages.
  WatchBody(unsigned /*threads*/, unsigned rounds) : messages_(rounds < most ? rounds : most) {}

  void thread(unsigned id) {
    switch (id) {
      case 0:
        while (!answered()) sleep();
        socket_.end();
        break;
      case 1:
        for (unsigned i = 0; i != messages_; ++i) send(left_[i]);
        if (polls) (void)poll();
        break;
      case 2:
        for (unsigned i = 0; i != messages_ + 1; ++i) socket_.receive();
        socket_.answer();
        break;
      default:
        while (socket_.await_event()) bell_.wake_blocked();
    }
  }

  void finish() { require<P>(backlog_.empty(), "messages were not received"); }

 private:
  bool answered() const { return answered_.load(order::acquire); }

  void sleep() {
    bell_.wait_once(
        [this] {
          const std::lock_guard guard(lock_);
          socket_.want_room(false);
          if (omitted != Omitted::room && !backlog_.empty()) socket_.want_room(true);
          if (omitted != Omitted::arming) socket_.arm();
        },
        [this] { return poll() || answered(); }, [this](std::uint32_t rings) { bell_.sleep(rings); });
    (void)poll();
  }
  // True if anything moved.
  bool poll() {
    bool flushed = false, taken = false;
    {
      const std::lock_guard guard(lock_);
      flushed = backlog_.flush([this](Message&) { return socket_.post(); }, [](Message&) {}) != 0;
      taken = socket_.take_answer();
      if (taken) answered_.store(true, order::release);
    }
    if (taken && omitted != Omitted::taken) bell_.wake_blocked();
    return flushed || taken;
  }
  void send(Message& message) {
    bool first = false;
    {
      const std::lock_guard guard(lock_);
      if (backlog_.empty() && socket_.post()) return;
      first = backlog_.append(message);
    }
    if (first && omitted != Omitted::append) bell_.wake_blocked();
  }

  const unsigned messages_;
  typename P::mutex lock_;
  sync::Doorbell<P, platform::Scope::process> bell_{};
  ModelSocket<P> socket_;
  sync::Backlog<P, Message, Links> backlog_;
  std::array<Message, most> left_;
  typename P::template atomic<bool> answered_{false};
};

}  // namespace heddle::test
