// The test of a backlog by itself: thread 1 leaves two messages, of which the second then goes first, and for one there is room,
// and one more behind them; the others send, and take back, what they find. A thread that then sees that nothing is left, without
// the lock, sees all that was done about them.
#pragma once

#include <array>

#include "base/sync/backlog.hpp"
#include "kit.hpp"

namespace heddle::test {

template <platform::Platform P>
class BacklogBody {
  template <class T>
  using plain = typename P::template plain<T>;

  struct Message {
    plain<Message*> next{nullptr};
    plain<bool> sent{false};
    plain<bool> taken_back{false};
  };
  struct Links {
    static Message* next(const Message& message) { return message.next.get(); }
    static void set_next(Message& message, Message* other) { message.next.set(other); }
  };

 public:
  BacklogBody(unsigned threads, unsigned /*rounds*/) : threads_(threads) {}

  void thread(unsigned id) {
    if (id == 1) {
      with_lock([this] {
        require<P>(backlog_.append(messages_[0]), "the first is not the first");
        require<P>(!backlog_.append(messages_[1]), "the second is the first");
      });
      with_lock([this] {
        if (backlog_.front() == &messages_[0] && !is_gone(messages_[1])) {
          backlog_.bring_forward(2, [this](const Message& message) { return &message == &messages_[1]; });
          require<P>(backlog_.front() == &messages_[1], "what goes first does not");
        }
        backlog_.append(messages_[3]);
      });
      for (unsigned look = 0; look != 3; ++look) {
        if (!backlog_.empty()) continue;
        for (const Message* const message : {&messages_[0], &messages_[1]})
          require<P>(message->sent.get() != message->taken_back.get(), "nothing is left, and yet this is");
        break;
      }
    } else if (id == 2) {
      with_lock([this] { take_back(messages_[1]); });
      with_lock([this] { send(1); });
    } else {
      with_lock([this] { send(1); });
      if (threads_ == 2) with_lock([this] { take_back(messages_[1]); });
    }
  }
  void finish() {
    with_lock([this] { send(3); });
    require<P>(backlog_.empty(), "something is left");
    with_lock([this] {
      require<P>(backlog_.append(messages_[2]), "the first after all others is not the first");
      send(1);
    });
    for (const Message& message : messages_)
      require<P>(message.sent.get() != message.taken_back.get(), "a message was lost");
  }

 private:
  template <class F>
  void with_lock(F&& f) {
    lock_.lock();
    f();
    lock_.unlock();
  }
  unsigned send(unsigned room) {
    return backlog_.flush(
        [&](Message& message) {
          if (room == 0) return false;
          --room;
          message.sent.set(true);
          return true;
        },
        [](Message&) {});
  }
  static bool is_gone(const Message& message) { return message.sent.get() || message.taken_back.get(); }
  void take_back(const Message& wanted) {
    (void)backlog_.remove([&](Message& message) {
      if (&message != &wanted) return false;
      message.taken_back.set(true);
      return true;
    });
  }

  const unsigned threads_;
  typename P::mutex lock_;
  sync::Backlog<P, Message, Links> backlog_;
  std::array<Message, 4> messages_;  // the third comes when all is over
};

}  // namespace heddle::test
