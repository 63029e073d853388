// A split copy: two ranks share the copying of one message (transfer.hpp).
//
// Source: Díaz-Martín 2014, section III, where each copies a half. Here they come from the two ends until they meet, so that who
// is late, or computes, holds nobody up. The rank of lower number comes from the front, the other from the back, whoever sends:
// so of a buffer that is used again, or sent back, each core has the part in its cache that it copied before.
//
// Memory orders: claims, relaxed, since chunks are disjoint and what is copied was published by the messages that began the
// transfer. A report of what was moved releases the bytes, and whoever sees the sum complete acquires them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heddle::message {

// In memory that both ranks see.
struct Split {
  static constexpr std::size_t unit = 4096;  // bytes; chunks are whole units, but for the end of the message

  struct Chunk {
    std::size_t at;
    std::size_t bytes;  // 0: everything is claimed
  };
  // The next chunk, of at most so many bytes, of a message of `bytes`.
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

  // Units that are claimed: from the front in the low half, from the back in the high one.
  alignas(64) std::atomic<std::uint64_t> claimed;
  alignas(64) std::atomic<std::uint64_t> moved;  // bytes
  std::atomic<std::uint32_t> failed;             // errno of a copy that did not work
};

}  // namespace heddle::message
