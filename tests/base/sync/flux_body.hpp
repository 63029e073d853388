// The test of messages on several paths: thread 0 receives, the others send, each through a box of its own, which it makes with its
// first message, or, if that is full, through a ring that all share. All that thread 1 had sent when another thread sent something, as
// far as that one knew, comes before it; and the messages of one thread come in order. `Looks::once`: the receiver takes the oldest of
// what it finds in one look, and the checker must find what that overlooks.
#pragma once

#include <array>
#include <atomic>

#include "base/sync/fast_buffer.hpp"
#include "base/sync/join_list.hpp"
#include "base/sync/oldest_first.hpp"
#include "base/sync/slot_ring.hpp"
#include "kit.hpp"
#include "ring_channel.hpp"

namespace heddle::test {

enum class Looks { until_nothing_is_older, once };

template <platform::Platform P, unsigned MaxThreads, Looks looks = Looks::until_nothing_is_older>
class FluxBody {
  using order = platform::order;
  template <class T>
  using plain = typename P::template plain<T>;

  struct Message {
    std::uint64_t stamp;
    std::uint32_t thread;
    std::uint32_t number;
    std::uint32_t before;  // how many of thread 1 were sent before, to the sender's knowledge
  };
  struct Path {
    sync::FastBuffer<P, sizeof(Message), 1> box;
    plain<unsigned> next{0};  // in the list: a thread's number, 0: none
  };
  using Slot = MessageSlot<P, Message>;
  using Channel = RingChannel<P, Slot, 2>;
  struct Front {
    std::uint64_t stamp = ~std::uint64_t{0};
    Message message{};
    bool by_channel = false;
    Path* path = nullptr;
    bool found() const { return by_channel || path != nullptr; }
  };

 public:
  FluxBody(unsigned threads, unsigned rounds) : senders_(threads - 1), rounds_(rounds) { producer_.attach(&channel_); }

  void thread(unsigned id) {
    if (id == 0) {
      for (unsigned taken = 0; taken != senders_ * rounds_;) taken += receive();
    } else {
      for (unsigned number = 0; number != rounds_; ++number) send(id, number);
    }
  }
  void finish() {
    for (unsigned id = 1; id <= senders_; ++id) require<P>(taken_[id] == rounds_, "a message was lost");
  }

 private:
  void send(unsigned id, unsigned number) {
    if (number == 0) list_.push(id, [&](unsigned older) { paths_[id].next.set(older); });
    const std::uint32_t before = id == 1 ? number : sent_.load(order::acquire);
    // Drawn by a thread that has read all that it knows. Not a cell of the platform: it must order nothing.
    const Message message{clock_.fetch_add(1, std::memory_order_relaxed) + 1, id, number, before};
    if (auto* const payload = paths_[id].box.claim()) {
      payload->write(&message, sizeof message);
      paths_[id].box.publish(sizeof message);
    } else {
      while (!send_by_channel(message)) P::yield();
    }
    if (id == 1) sent_.store(number + 1, order::release);
  }
  // Stamps in the ring are in order, since they are drawn with the lock held.
  bool send_by_channel(Message message) {
    lock_.lock();
    const auto claim = producer_.claim(sync::Claiming::exclusive);
    if (claim.slot != nullptr) {
      message.stamp = clock_.fetch_add(1, std::memory_order_relaxed) + 1;
      claim.slot->payload.write(&message, sizeof message);
      producer_.publish(claim);
    }
    lock_.unlock();
    return claim.slot != nullptr;
  }

  unsigned receive() {
    join();
    Front front;
    if (looks == Looks::once) {
      (void)look(front);
    } else {
      front = sync::oldest<Front>([this](Front& oldest) { return look(oldest); }, [this] { join(); });
    }
    if (!front.found()) {
      P::yield();
      return 0;
    }
    if (front.by_channel) {
      consumer_.pop();
      consumer_.publish();
    } else {
      front.path->box.pop();
    }
    const Message& message = front.message;
    require<P>(message.number == taken_[message.thread], "messages of one thread changed places");
    require<P>(message.thread == 1 || taken_[1] >= message.before, "a message overtook one that was sent before it");
    ++taken_[message.thread];
    return 1;
  }
  void join() {
    if (!list_.is_beyond(known_)) return;
    const unsigned newest = list_.newest();
    for (unsigned id = newest; id != known_; id = paths_[id].next.get()) joined_[id] = true;
    known_ = newest;
  }
  bool look(Front& front) {
    bool older = false;
    const auto consider = [&](const auto& payload, bool by_channel, Path* path) {
      Message message;
      payload.read(&message, sizeof message);
      if (message.stamp >= front.stamp) return;
      front = {message.stamp, message, by_channel, path};
      older = true;
    };
    if (const Slot* const slot = consumer_.front()) consider(slot->payload, true, nullptr);
    for (unsigned id = 1; id <= senders_; ++id) {
      std::uint32_t bytes;
      if (!joined_[id]) continue;
      if (const auto* const payload = paths_[id].box.front(bytes)) consider(*payload, false, &paths_[id]);
    }
    return older;
  }

  const unsigned senders_;
  const unsigned rounds_;
  std::atomic<std::uint64_t> clock_{0};
  typename P::template atomic<std::uint32_t> sent_{0};  // by thread 1
  sync::JoinList<P, unsigned> list_;
  std::array<Path, MaxThreads> paths_;
  typename P::mutex lock_;
  Channel channel_;
  sync::SlotProducer<P, Channel, Slot> producer_;
  sync::SlotConsumer<P, Channel, Slot> consumer_{&channel_};
  // The receiver's.
  unsigned known_ = 0;
  std::array<bool, MaxThreads> joined_{};
  std::array<unsigned, MaxThreads> taken_{};
};

}  // namespace heddle::test
