// Fastbuffer: small messages of one sender to one receiver through a fixed number of boxes, past all queues.
//
// Source: Díaz-Martín and Rico-Gallego 2014, Fig. 2 (AzequiaMPI); a fastbox of Nemesis (Buntinas 2006) is one of one
// box. One box is enough for latency; with two the sender fills one while the receiver empties the other, which
// quadrupled the rate of small messages in the paper.
//
// Invariants: a box is the sender's while its size is `empty`, else the receiver's. Both go round the boxes in order.
// Order: FIFO. Progress: both sides are wait free; a full or empty buffer says so. No pointers: works in memory that
// processes map at different addresses.
// When: one pair of threads or of ranks. It is a second path beside the receive queue: messages carry a sequence
// number if both may be used.
//
// Memory orders: the size is stored with release and looked at with acquire, both ways: it hands over the payload to
// the receiver and the emptied box back to the sender.
#pragma once

#include "platform/platform.hpp"

namespace heddle::sync {

template <platform::Platform P, std::uint32_t Bytes, std::uint32_t Boxes = 2>
class FastBuffer {
  using order = platform::order;

 public:
  static constexpr std::uint32_t capacity = Bytes;

  // False if all boxes are full. bytes <= Bytes.
  bool send(const void* payload, std::uint32_t bytes) {
    Box& box = boxes_[filled_.get()];
    if (box.size.load(order::acquire) != empty) return false;
    box.payload.write(payload, bytes);
    box.size.store(bytes, order::release);
    filled_.set((filled_.get() + 1) % Boxes);
    return true;
  }

  // The size of the message that is next, copied out; or `empty`.
  std::uint32_t receive(void* payload) {
    Box& box = boxes_[emptied_.get()];
    const std::uint32_t bytes = box.size.load(order::acquire);
    if (bytes == empty) return empty;
    box.payload.read(payload, bytes);
    box.size.store(empty, order::release);
    emptied_.set((emptied_.get() + 1) % Boxes);
    return bytes;
  }

  static constexpr std::uint32_t empty = ~std::uint32_t{0};

 private:
  // The size shares its line with the first bytes, so that a small message is one line.
  struct alignas(platform::cache_line) Box {
    typename P::template atomic<std::uint32_t> size{empty};
    typename P::template block<Bytes> payload;
  };

  Box boxes_[Boxes];
  alignas(platform::cache_line) typename P::template plain<std::uint32_t> filled_{0};   // the sender's
  alignas(platform::cache_line) typename P::template plain<std::uint32_t> emptied_{0};  // the receiver's
};

}  // namespace heddle::sync
