// The test of messages on lanes: thread 0 receives, the others send, each to all lanes in turn or, thread 2, to one of them. The lanes are
// rings that all share. The messages of one thread come in order. `Passes::one`: a message leaves after the pass that has taken it, and
// the checker must find what that overlooks.
#pragma once

#include <array>
#include <atomic>

#include "base/sync/lane_merge.hpp"
#include "base/sync/slot_ring.hpp"
#include "kit.hpp"
#include "ring_channel.hpp"

namespace heddle::test {

enum class Passes { two, one };

template <platform::Platform P, unsigned MaxThreads, Passes passes = Passes::two>
class LaneBody {
  static constexpr unsigned lanes = 2;
  static constexpr unsigned most_messages = 8;

  struct Message {
    std::uint64_t stamp;  // 0: the thread has not changed the lane
    std::uint32_t thread;
    std::uint32_t number;
  };
  struct Item {
    Message message;
    std::uint64_t stamp;
    std::uint32_t pass;
    Item* next;
  };
  struct Links {
    static Item* next(const Item& item) { return item.next; }
    static void set_next(Item& item, Item* other) { item.next = other; }
    static std::uint64_t stamp(const Item& item) { return item.stamp; }
    static std::uint32_t pass(const Item& item) { return item.pass; }
    static void set_pass(Item& item, std::uint32_t pass) { item.pass = pass; }
  };
  using Slot = MessageSlot<P, Message>;
  using Channel = RingChannel<P, Slot, 8>;

 public:
  LaneBody(unsigned threads, unsigned rounds) : senders_(threads - 1), rounds_(rounds) {
    for (unsigned lane = 0; lane != lanes; ++lane) producers_[lane].attach(&channels_[lane]);
  }

  void thread(unsigned id) {
    if (id == 0) {
      for (unsigned taken = 0; taken != senders_ * rounds_;) taken += receive();
    } else {
      unsigned last = lanes;  // none
      for (unsigned number = 0; number != rounds_; ++number) {
        const unsigned lane = id == 2 ? 1 : (id + number) % lanes;
        if (last != lanes && last != lane) producers_[last].note_claims();
        send(lane, {lane != last ? clock_.fetch_add(1, std::memory_order_relaxed) + 1 : 0, id, number});
        last = lane;
      }
    }
  }
  void finish() {
    for (unsigned id = 1; id <= senders_; ++id) require<P>(taken_[id] == rounds_, "a message was lost");
  }

 private:
  void send(unsigned lane, const Message& message) {
    auto& producer = producers_[lane];
    const auto claim = producer.claim(sync::Claiming::concurrent);
    require<P>(claim.slot != nullptr, "a ring was full");
    claim.slot->payload.write(&message, sizeof message);
    producer.publish(claim);
  }

  unsigned receive() {
    bool any = false;
    bool complete = true;
    for (unsigned lane = 0; lane != lanes; ++lane) {
      if (!pass_began_) consumers_[lane].look_for_noted();
      while (const Slot* const slot = consumers_[lane].front()) {
        Item& item = items_[count_++];
        slot->payload.read(&item.message, sizeof item.message);
        consumers_[lane].pop();
        last_stamp_[lane] = std::max(last_stamp_[lane], item.message.stamp);
        item.stamp = last_stamp_[lane];
        merge_.add(lane, item);
        any = true;
      }
      complete &= consumers_[lane].has_taken_noted();
    }
    pass_began_ = !complete;
    if (complete) pass_numbers_.end_pass();
    if (passes == Passes::one) pass_numbers_.end_pass();
    unsigned left = 0;
    while (Item* const item = merge_.take()) {
      require<P>(item->message.number == taken_[item->message.thread], "messages of one thread changed places");
      ++taken_[item->message.thread];
      ++left;
    }
    if (!any && left == 0) P::yield();
    return left;
  }

  const unsigned senders_;
  const unsigned rounds_;
  std::atomic<std::uint64_t> clock_{0};
  std::array<Channel, lanes> channels_;
  std::array<sync::SlotProducer<P, Channel, Slot>, lanes> producers_;
  // The receiver's.
  std::array<sync::SlotConsumer<P, Channel, Slot>, lanes> consumers_{
      sync::SlotConsumer<P, Channel, Slot>(&channels_[0]), sync::SlotConsumer<P, Channel, Slot>(&channels_[1])};
  std::array<std::uint64_t, lanes> last_stamp_{};
  sync::LanePasses pass_numbers_;
  sync::LaneMerge<Item, Links> merge_{lanes, pass_numbers_};
  std::array<Item, most_messages> items_{};
  unsigned count_ = 0;
  bool pass_began_ = false;
  std::array<unsigned, MaxThreads> taken_{};
};

}  // namespace heddle::test
