// A ring of one producer and one consumer.
//
// Source: Lamport, ACM TOPLAS 5(2), 1983; each side keeps a copy of the other's index and reads the original only when
// the copy says full or empty (as MCRingBuffer, Lee, Bu and Chandranmenon, IPDPS 2010), so that a busy ring moves one
// line per several items.
//
// Invariants: taken <= put <= taken + Slots, modulo 2^32. The copies lag behind the originals. Order: FIFO,
// linearizable. Progress: both sides are wait free; full and empty are reported. No pointers of its own: works in
// memory shared by processes. When: streams between a pair of threads. In the library: not used; pairs of threads have
// fast_buffer.hpp. It is measured beside that.
//
// Memory orders: each side stores its own index with release and loads the other's with acquire: items are handed over
// by put_, emptied slots by taken_. A side's own index is its alone: relaxed.
#pragma once

#include <bit>

#include "base/platform/platform.hpp"

namespace heddle::sync {

template <platform::Platform P, class T, std::uint32_t Slots>
class SpscRing {
  static_assert(std::has_single_bit(Slots), "indices wrap around");
  using order = platform::order;

 public:
  // False if full.
  bool enqueue(T item) {
    const std::uint32_t put = put_.load(order::relaxed);
    if (put - taken_seen_.get() == Slots) {
      taken_seen_.set(taken_.load(order::acquire));
      if (put - taken_seen_.get() == Slots) return false;
    }
    slots_[put % Slots].set(item);
    put_.store(put + 1, order::release);
    return true;
  }

  // False if empty.
  bool dequeue(T& item) {
    const std::uint32_t taken = taken_.load(order::relaxed);
    if (taken == put_seen_.get()) {
      put_seen_.set(put_.load(order::acquire));
      if (taken == put_seen_.get()) return false;
    }
    item = slots_[taken % Slots].get();
    taken_.store(taken + 1, order::release);
    return true;
  }

 private:
  using Index = typename P::template atomic<std::uint32_t>;
  using Seen = typename P::template plain<std::uint32_t>;

  alignas(platform::cache_line) Index put_{0};
  Seen taken_seen_{0};  // the producer's
  alignas(platform::cache_line) Index taken_{0};
  Seen put_seen_{0};  // the consumer's
  alignas(platform::cache_line) typename P::template plain<T> slots_[Slots];
};

}  // namespace heddle::sync
