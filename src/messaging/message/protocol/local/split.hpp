// Split copy: two ranks share the copying of one message (transfers.hpp).
//
// Source: Díaz-Martín 2014, section III, where each rank copies a half. Here the ranks start from the two ends of the message and stop
// where they meet, so a rank that is late, or computes, does not delay the other. The rank of lower number starts from the front and the
// other from the back, whichever sends. So if a buffer is reused or sent back, each core has the part in its cache that it copied before.
//
// Memory orders: claims are relaxed, since chunks are disjoint, and the messages that began the transfer have published the data. A
// report of copied bytes releases the bytes; the rank that reads the complete sum acquires them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heddle::message {

// In memory that both ranks map.
struct Split {
  static constexpr std::size_t unit = 4096;  // bytes; chunks are whole units, except at the end of the message

  struct Chunk {
    std::size_t at;
    std::size_t bytes;  // 0: all chunks are claimed
  };
  // Claims the next chunk, of at most `most` bytes, of a message of `bytes` bytes.
  Chunk claim(std::size_t bytes, std::size_t most, bool from_front) {
    const std::uint64_t units = (bytes + unit - 1) / unit;
    std::uint64_t seen = claimed.load(std::memory_order_relaxed);
    std::uint64_t front, back, n;
    do {
      front = seen & 0xffff'ffff;
      back = seen >> 32;
      n = std::min<std::uint64_t>(most / unit, units - front - back);
      if (n == 0) return {0, 0};
    } while (!claimed.compare_exchange_weak(seen, seen + (from_front ? n : n << 32), std::memory_order_relaxed));
    const std::size_t at = (from_front ? front : units - back - n) * unit;
    return {at, std::min(n * unit, bytes - at)};
  }

  // Claimed units: from the front in the low half, from the back in the high half.
  alignas(64) std::atomic<std::uint64_t> claimed;
  alignas(64) std::atomic<std::uint64_t> moved;  // bytes
  std::atomic<std::uint32_t> failed;             // errno of a copy that failed
};

}  // namespace heddle::message
