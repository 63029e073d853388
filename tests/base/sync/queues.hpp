// Every queue, registered by a line: those of many producers, and those of one.
//
// What a queue is to a test: numbers go in and come out. Queues whose nodes are the caller's get few of them, and
// every node that comes out goes back to a producer: nothing allocates, and a node that is reused too early shows.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "base/sync/byte_ring.hpp"
#include "base/sync/fast_buffer.hpp"
#include "base/sync/nemesis_queue.hpp"
#include "base/sync/slot_ring.hpp"
#include "base/sync/spsc_ring.hpp"
#include "base/sync/swp_queue.hpp"
#include "base/sync/ticket_queue.hpp"
#include "kit.hpp"
#include "ring_channel.hpp"

namespace heddle::test {

// Queues that copy the item.
template <class Q>
class ByValue {
 public:
  struct Supply {};
  bool enqueue(Supply&, std::uint32_t item) { return queue_.enqueue(item); }
  bool dequeue(Supply*, std::uint32_t& item) { return queue_.dequeue(item); }

 private:
  Q queue_;
};

// The nodes of one producer, and their way back from the consumer.
template <platform::Platform P, class Node, unsigned Count>
class Nodes {
 public:
  Node* take() {
    if (fresh_ != 0) return &nodes_[--fresh_];
    std::intptr_t distance = 0;
    return back_.dequeue(distance) ? reinterpret_cast<Node*>(here() + distance) : nullptr;
  }
  void give_back(Node* node) {
    require<P>(back_.enqueue(reinterpret_cast<std::intptr_t>(node) - here()), "more nodes came back than there are");
  }

 private:
  // Processes may map this at different addresses.
  std::intptr_t here() const { return reinterpret_cast<std::intptr_t>(this); }

  Node nodes_[Count];
  unsigned fresh_ = Count;
  sync::SpscRing<P, std::intptr_t, 2 * Count> back_;  // one node more than its own may come to a producer: the dummy
};

// Items name their producer in the upper bits.
inline constexpr unsigned producer_shift = 24;

template <platform::Platform P, unsigned Count = 1>
class SwpOfNumbers {
  using Queue = sync::SwpQueue<P, std::uint32_t>;

 public:
  using Supply = Nodes<P, typename Queue::node, Count>;
  bool enqueue(Supply& supply, std::uint32_t item) {
    auto* const node = supply.take();
    if (node != nullptr) queue_.enqueue(*node, item);
    return node != nullptr;
  }
  bool dequeue(Supply* supplies, std::uint32_t& item) {
    auto* const node = queue_.dequeue(item);
    if (node != nullptr) supplies[item >> producer_shift].give_back(node);
    return node != nullptr;
  }

 private:
  Queue queue_;
};

template <platform::Platform P, unsigned Count = 1>
class NemesisOfNumbers {
  using Queue = sync::NemesisQueue<P>;
  struct Cell : Queue::node {
    typename P::template plain<std::uint32_t> item;
  };

 public:
  using Supply = Nodes<P, Cell, Count>;
  bool enqueue(Supply& supply, std::uint32_t item) {
    Cell* const cell = supply.take();
    if (cell == nullptr) return false;
    cell->item.set(item);
    queue_.enqueue(*cell);
    return true;
  }
  bool dequeue(Supply* supplies, std::uint32_t& item) {
    auto* const cell = static_cast<Cell*>(queue_.dequeue());
    if (cell == nullptr) return false;
    item = cell->item.get();
    supplies[item >> producer_shift].give_back(cell);
    return true;
  }

 private:
  Queue queue_;
};

template <platform::Platform P, std::uint32_t Boxes>
class BufferOfNumbers {
 public:
  struct Supply {};
  bool enqueue(Supply&, std::uint32_t item) {
    auto* const payload = buffer_.claim();
    if (payload == nullptr) return false;
    payload->write(&item, sizeof item);
    buffer_.publish(sizeof item);
    return true;
  }
  bool dequeue(Supply*, std::uint32_t& item) {
    std::uint32_t bytes;
    const auto* const payload = buffer_.front(bytes);
    if (payload == nullptr) return false;
    payload->read(&item, bytes);
    buffer_.pop();
    return true;
  }

 private:
  sync::FastBuffer<P, 16, Boxes> buffer_;
};

// The channel lies in the queue, which processes may map at different addresses; the ends are made where they are used. Each item is
// notified_early when half of it is there.
template <platform::Platform P, std::uint32_t Count, sync::Claiming claiming>
class SlotsOfNumbers {
  struct Slot {
    typename P::template atomic<std::uint32_t> sequence;
    typename P::template plain<std::uint32_t> half;
    typename P::template plain<std::uint32_t> item;
  };
  using Channel = RingChannel<P, Slot, Count>;
  using Producer = sync::SlotProducer<P, Channel, Slot>;

 public:
  // One producer for all threads, or that of the only one.
  struct Supply {
    Producer own;
  };
  SlotsOfNumbers() {
    if (claiming == sync::Claiming::concurrent) shared_.attach(&channel_);
  }

  bool enqueue(Supply& supply, std::uint32_t item) {
    Producer& producer = claiming == sync::Claiming::concurrent ? shared_ : supply.own;
    if (!producer.attached()) producer.attach(&channel_);
    const auto claim = producer.claim(claiming);
    if (claim.slot == nullptr) return false;
    claim.slot->half.set(item);
    producer.notify_early(claim);
    claim.slot->item.set(item);
    producer.publish(claim);
    return true;
  }
  bool dequeue(Supply*, std::uint32_t& item) {
    if (!consumer_) consumer_.emplace(&channel_);
    const Slot* const slot = consumer_->front([this](const Slot& coming) { notified_early_ = coming.half.get(); });
    if (slot == nullptr) return false;
    item = slot->item.get();
    if (const auto notified_early = std::exchange(notified_early_, std::nullopt))
      require<P>(*notified_early == item, "another item was notified_early");
    consumer_->pop();
    consumer_->publish();
    return true;
  }

 private:
  Channel channel_;
  Producer shared_;
  std::optional<sync::SlotConsumer<P, Channel, Slot>> consumer_;
  std::optional<std::uint32_t> notified_early_;
};

// The same with its items in a ring of bytes, of which each takes a line.
template <platform::Platform P, std::uint32_t Lines>
class BytesOfNumbers {
  static constexpr std::size_t bytes = Lines * platform::cache_line;

 public:
  struct Supply {
    sync::ByteRingProducer<P, bytes> own;
  };
  bool enqueue(Supply& supply, std::uint32_t item) {
    sync::ByteSpan span;
    if (!supply.own.reserve(sizeof item, consumed_, span)) return false;
    const std::uint32_t position = sent_.load(platform::order::relaxed);
    if (position - taken_.load(platform::order::relaxed) == 2 * Lines) return false;  // never: the bytes are fewer
    lines_[span.begin % bytes / platform::cache_line].set(item);
    supply.own.commit(span);
    ends_[position % (2 * Lines)].set(span.end);
    sent_.store(position + 1, platform::order::release);
    return true;
  }
  bool dequeue(Supply*, std::uint32_t& item) {
    const std::uint32_t position = taken_.load(platform::order::relaxed);
    if (sent_.load(platform::order::acquire) == position) return false;
    const std::uint64_t end = ends_[position % (2 * Lines)].get();
    item = lines_[(end - platform::cache_line) % bytes / platform::cache_line].get();
    taken_.store(position + 1, platform::order::relaxed);
    consumed_.store(end, platform::order::release);
    return true;
  }

 private:
  typename P::template atomic<std::uint64_t> consumed_{0};
  typename P::template atomic<std::uint32_t> sent_{0}, taken_{0};
  typename P::template plain<std::uint32_t> lines_[Lines];
  typename P::template plain<std::uint64_t> ends_[2 * Lines];
};

template <platform::Platform P>
using ManyProducerQueues = CaseList<                                      //
    Case<"swp", SwpOfNumbers<P>>,                                         //
    Case<"nemesis", NemesisOfNumbers<P>>,                                 //
    Case<"slot-ring", SlotsOfNumbers<P, 2, sync::Claiming::concurrent>>,  //
    Case<"ticket", ByValue<sync::TicketQueue<P, std::uint32_t, 2>>>>;

template <platform::Platform P>
using OneProducerQueues = CaseList<                                   //
    Case<"spsc-ring", ByValue<sync::SpscRing<P, std::uint32_t, 2>>>,  //
    Case<"slot-ring-exclusive", SlotsOfNumbers<P, 2, sync::Claiming::exclusive>>,
    Case<"byte-ring", BytesOfNumbers<P, 2>>, Case<"fastbuffer1", BufferOfNumbers<P, 1>>,  //
    Case<"fastbuffer2", BufferOfNumbers<P, 2>>>;

// Those for memory that processes share.
template <platform::Platform P>
using SharedManyProducerQueues = CaseList<  //
    Case<"nemesis", NemesisOfNumbers<P>>,   //
    Case<"ticket", ByValue<sync::TicketQueue<P, std::uint32_t, 2>>>>;

// As they are measured: with room for more than a few items.
template <platform::Platform P>
using BenchedQueues = CaseList<                //
    Case<"swp", SwpOfNumbers<P, 64>>,          //
    Case<"nemesis", NemesisOfNumbers<P, 64>>,  //
    Case<"ticket", ByValue<sync::TicketQueue<P, std::uint32_t, 1024>>>>;

template <platform::Platform P>
using BenchedPairQueues = CaseList<                                      //
    Case<"spsc-ring", ByValue<sync::SpscRing<P, std::uint32_t, 1024>>>,  //
    Case<"fastbuffer1", BufferOfNumbers<P, 1>>,                          //
    Case<"fastbuffer2", BufferOfNumbers<P, 2>>>;

// Those where an item whose enqueue has returned is never hidden.
template <platform::Platform P>
using LinearizableQueues = CaseList<Case<"ticket", ByValue<sync::TicketQueue<P, std::uint32_t, 4>>>>;

}  // namespace heddle::test
