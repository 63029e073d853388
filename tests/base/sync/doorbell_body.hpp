// The tests of the doorbell, and of deferred work while a thread sleeps there. A lost wake-up is a deadlock.
//
// DoorbellBody: thread 0 sleeps until all others have brought something; each brings several things, at any time: before the last
// poll, between it and the sleep, or later. With `listener` thread 0 is a progress thread, which listens.
//
// RoomBody: a rank of two threads, 0 and 1, and a peer, thread 2. Thread 1 sends more messages than the ring has slots; what finds
// no room goes to the backlog, and then it makes no further call. Thread 0 waits, blocked if need be, for an answer that the peer
// gives once it has everything. So thread 0 must send what thread 1 has left. This is the hang of a rank whose thread sleeps in a
// receive while another leaves sends behind; `Left::unannounced` leaves out the wake-up that cures it.
#pragma once

#include <array>

#include "base/sync/backlog.hpp"
#include "base/sync/doorbell.hpp"
#include "base/sync/slot_ring.hpp"
#include "base/sync/ttas_lock.hpp"
#include "kit.hpp"

namespace heddle::test {

template <platform::Platform P, unsigned MaxThreads, bool listener = false,
          platform::Scope where = platform::Scope::process>
class DoorbellBody {
  using order = platform::order;

 public:
  DoorbellBody(unsigned threads, unsigned rounds) : bringers_(threads - 1), rounds_(rounds) {}

  void thread(unsigned id) {
    if (id == 0) {
      while (!all_came()) listener ? listen() : sleep();
      for (unsigned i = 1; i <= bringers_; ++i) require<P>(data_[i].get() == rounds_, "came without what it brought");
    } else {
      for (unsigned round = 1; round <= rounds_; ++round) {
        data_[id].set(round);
        brought_[id].store(round, order::release);
        bell_.wake_blocked();
      }
    }
  }

  void finish() { require<P>(all_came(), "something is missing"); }

 private:
  bool all_came() const {
    for (unsigned i = 1; i <= bringers_; ++i)
      if (brought_[i].load(order::acquire) != rounds_) return false;
    return true;
  }
  void sleep() {
    bell_.wait_once([] {}, [this] { return all_came(); }, [this](std::uint32_t rings) { bell_.sleep(rings); });
  }
  void listen() {
    const std::uint32_t calls = bell_.calls.load(order::acquire);
    bell_.listen();
    P::heavy_fence();
    if (!all_came()) bell_.await_call(calls);
  }

  const unsigned bringers_;
  const unsigned rounds_;
  sync::Doorbell<P, where> bell_{};
  std::array<typename P::template atomic<std::uint32_t>, MaxThreads + 1> brought_;
  std::array<typename P::template plain<unsigned>, MaxThreads + 1> data_;
};

// A channel that one thread makes and attaches, while another looks whether it is there and sends through it.
template <platform::Platform P>
class AttachBody {
  struct Slot {
    typename P::template atomic<std::uint32_t> sequence;
    typename P::template plain<unsigned> number;
  };
  struct Channel {
    typename P::template atomic<std::uint32_t> slots_consumed;
    typename P::template atomic<std::uint32_t> producer_waits;
    std::uint32_t slot_count = 1;
    typename P::template plain<unsigned> made;
    Slot all[1];
    Slot* slots() { return all; }
  };

 public:
  AttachBody(unsigned /*threads*/, unsigned /*rounds*/) {}
  void thread(unsigned id) {
    if (id == 0) {
      channel_.made.set(1);
      producer_.attach(&channel_);
    } else if (producer_.attached()) {
      require<P>(producer_.channel().made.get() == 1, "attached before it was made");
      sent_ = producer_.claim(sync::Claiming::exclusive).slot != nullptr;
    }
  }
  void finish() { require<P>(producer_.attached() && (!sent_ || channel_.made.get() == 1), "nothing is attached"); }

 private:
  Channel channel_;
  sync::SlotProducer<P, Channel, Slot> producer_;
  bool sent_ = false;
};

enum class Left { announced, unannounced };

template <platform::Platform P, Left left = Left::announced>
class RoomBody {
  using order = platform::order;
  template <class T>
  using plain = typename P::template plain<T>;

  struct Slot {
    typename P::template atomic<std::uint32_t> sequence;
    plain<unsigned> number;
  };
  struct Channel {
    typename P::template atomic<std::uint32_t> slots_consumed;
    typename P::template atomic<std::uint32_t> producer_waits;
    std::uint32_t slot_count = 1;
    Slot all[1];
    Slot* slots() { return all; }
  };
  struct Message {
    plain<unsigned> number;
    plain<Message*> next;
  };
  struct Links {
    static Message* next(const Message& message) { return message.next.get(); }
    static void set_next(Message& message, Message* other) { message.next.set(other); }
  };
  static constexpr unsigned most = 3;

 public:
  // Rounds: messages.
  RoomBody(unsigned /*threads*/, unsigned rounds) : messages_(rounds < most ? rounds : most), consumer_(&channel_) {
    producer_.attach(&channel_);
  }

  void thread(unsigned id) {
    switch (id) {
      case 0:
        while (!answered()) sleep();
        break;
      case 1:
        for (unsigned i = 0; i != messages_; ++i) send(i);
        break;
      default:
        receive();
    }
  }

  void finish() { require<P>(backlog_.empty(), "messages were not received"); }

 private:
  bool answered() const { return answer_.load(order::acquire) != 0; }

  template <class F>
  void with_lock(F&& f) {
    sync::NoNode node;
    lock_.lock(node);
    f();
    lock_.unlock(node);
  }

  // Thread 0, as a thread that waits in the library.
  void sleep() {
    bell_.wait_once([this] { with_lock([this] { ask_for_room(); }); },
                    [this] {
                      bool moved = false;
                      with_lock([&] { moved = flush(); });
                      return moved || answered();
                    },
                    [this](std::uint32_t rings) { bell_.sleep(rings); });
    with_lock([this] { flush(); });
  }
  void ask_for_room() {
    if (!backlog_.empty()) producer_.ask_for_room();
  }
  bool flush() {
    return backlog_.flush([this](Message& message) { return post(message.number.get()); }, [](Message&) {}) != 0;
  }

  bool post(unsigned number) {
    const auto claim = producer_.claim(sync::Claiming::exclusive);
    if (claim.slot == nullptr) return false;
    claim.slot->number.set(number);
    producer_.publish(claim);
    return true;
  }

  // Thread 1.
  void send(unsigned number) {
    bool first = false;
    with_lock([&] {
      if (backlog_.empty() && post(number)) return;
      messages_left_[number].number.set(number);
      first = backlog_.append(messages_left_[number]);
    });
    if (first && left == Left::announced) bell_.wake_blocked();
  }

  // Thread 2, a rank of its own that is spinning.
  void receive() {
    for (unsigned i = 0; i != messages_; ++i) {
      P::await(channel_.all[0].sequence, order::acquire, [i](std::uint32_t sequence) { return sequence == i + 1; });
      const Slot* const slot = consumer_.front();
      require<P>(slot != nullptr && slot->number.get() == i, "a message overtook another");
      consumer_.pop();
      consumer_.publish();
      if (consumer_.owes_wakeup()) bell_.ring();
    }
    answer_.store(1, order::release);
    bell_.wake_blocked();
  }

  const unsigned messages_;
  sync::TtasLock<P> lock_;
  sync::Doorbell<P, platform::Scope::process> bell_{};
  Channel channel_;
  sync::SlotProducer<P, Channel, Slot> producer_;
  sync::SlotConsumer<P, Channel, Slot> consumer_;
  sync::Backlog<P, Message, Links> backlog_;
  std::array<Message, most> messages_left_;
  typename P::template atomic<std::uint32_t> answer_;
};

}  // namespace heddle::test
