// Fastbuffer: small messages of one sender to one receiver through a fixed number of boxes, past all queues.
//
// Source: Díaz-Martín and Rico-Gallego 2014, Fig. 2 (AzequiaMPI); a fastbox of Nemesis (Buntinas 2006) is one of one
// box. One box is enough for latency; with two the sender fills one while the receiver empties the other, which
// quadrupled the rate of small messages in the paper.
//
// Invariants: a box is the sender's while its size is `empty`, else the receiver's. Both go round the boxes in order.
// Order: FIFO. Progress: both sides are wait free; a full or empty buffer is reported. No pointers: works in memory
// that processes map at different addresses. When: one pair of threads or of ranks. It is a second path beside the
// receive queue: messages carry a sequence number, or a stamp, if both may be used.
//
// Memory orders: the size is stored with release and loaded with acquire, both ways: it hands over the payload to the
// receiver and the emptied box back to the sender.
#pragma once

#include "base/platform/platform.hpp"

namespace heddle::sync {

template <platform::Platform P, std::uint32_t Bytes, std::uint32_t Boxes = 2>
class FastBuffer {
  using order = platform::order;

 public:
  static constexpr std::uint32_t capacity = Bytes;
  using Payload = typename P::template block<Bytes>;

  // The sender's: the payload of the box that is filled next, its own until publish; null if all boxes are full.
  Payload* claim() {
    Box& box = boxes_[filled_.get()];
    return box.size.load(order::acquire) == empty ? &box.payload : nullptr;
  }
  // Hands the claimed box over with so many bytes, at most `capacity`.
  void publish(std::uint32_t bytes) {
    boxes_[filled_.get()].size.store(bytes, order::release);
    filled_.set((filled_.get() + 1) % Boxes);
  }

  // The receiver's: the message that is next and its bytes, until pop; null if there is none.
  const Payload* front(std::uint32_t& bytes) const {
    const Box& box = boxes_[emptied_.get()];
    bytes = box.size.load(order::acquire);
    return bytes == empty ? nullptr : &box.payload;
  }
  void pop() {
    boxes_[emptied_.get()].size.store(empty, order::release);
    emptied_.set((emptied_.get() + 1) % Boxes);
  }

  // True if a message waits; any thread, a hint.
  bool any() const {
    for (const Box& box : boxes_)
      if (box.size.load(order::relaxed) != empty) return true;
    return false;
  }

 private:
  // The size shares its line with the first bytes, so that a small message is one line.
  static constexpr std::uint32_t empty = ~std::uint32_t{0};
  struct alignas(platform::cache_line) Box {
    typename P::template atomic<std::uint32_t> size{empty};
    Payload payload;
  };

  Box boxes_[Boxes];
  alignas(platform::cache_line) typename P::template plain<std::uint32_t> filled_{0};   // the sender's
  alignas(platform::cache_line) typename P::template plain<std::uint32_t> emptied_{0};  // the receiver's
};

}  // namespace heddle::sync
