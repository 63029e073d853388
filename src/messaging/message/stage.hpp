// A staged copy: a long message goes through a ring of chunks in shared memory, one side packing while the other unpacks (transfer.hpp).
//
// A chunk is read from a cache that both cores reach. A message that fits into the ring begins at its start: of two ranks that answer each
// other, each writes to the stage that it has just read (kept_stages.hpp), so that a line crosses once (docs/adr/0079). A longer one goes
// on where the one before it ended. The ring is larger than a core's own cache: a line that the reader still has there would have to be
// taken from there before it is written again. Pages are only there if used.
//
// Chunks are claimed as of a split copy: the sender takes them from the front, one by one. Who sees nothing happen for a while, since the
// other computes or has lost its core, takes some from the back, if the kernel lets it, and copies them alone: the receiver reads, the
// sender writes. So nobody is held up.
//
// Source: the pipelines of MPI libraries over shared memory (Buntinas, Mercier, Gropp 2006, Nemesis' large messages), and the split copy of
// Díaz-Martín 2014.
//
// Memory orders: a count of chunks releases what was written, or read, to whoever acquires it.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "messaging/message/split.hpp"

namespace heddle::message {

// In memory that both ranks see, at the start of a block of block_of(message) bytes, before the ring. The receiver makes it, or, of a message
// that goes eagerly, the sender.
struct alignas(64) Stage {
  static constexpr std::size_t least_block = 64 * 1024, longest_block = 2048 * 1024;
  static constexpr std::size_t head = 4096;  // bytes of a block before its ring, whose chunks so begin with a page
  static constexpr std::size_t longest_ring = longest_block - head;
  static constexpr std::size_t longest_eager =
      256 * 1024;  // the longest message that its sender stages before it has been asked for
  static constexpr std::size_t least_chunk = 4 * 1024, longest_chunk = 32 * 1024;
  static constexpr std::size_t most_slots = (longest_ring + longest_chunk - 1) / longest_chunk;

  // A power of two: the heap has no others.
  static constexpr std::size_t block_of(std::size_t message) {
    return std::bit_ceil(std::clamp(message, least_block - head, longest_ring) + head);
  }
  // The length of a chunk: some of a short message, so that both sides are at work for most of the time.
  static constexpr std::size_t chunk_of(std::size_t message) {
    return std::clamp(message / 4 / Split::unit * Split::unit, least_chunk, longest_chunk);
  }

  // As many as a ring has; a message that fits into it as a whole needs no more than it has chunks, the last of which may be short.
  static constexpr std::size_t slots_of(std::size_t message) {
    const std::size_t ring = block_of(message) - head, chunk = chunk_of(message);
    return message <= ring ? (message + chunk - 1) / chunk : ring / chunk;
  }

  // Its first chunk comes to the place `begin` of the ring, or a little before it.
  Stage(std::size_t message, std::size_t begin)
      : message(message), chunk(chunk_of(message)), slots(slots_of(message)), first(begin / chunk) {}

  std::size_t block() const { return block_of(message); }
  std::size_t slot(std::uint32_t number) const { return (first + number) % slots; }
  std::byte* place(std::uint32_t number) { return reinterpret_cast<std::byte*>(this) + head + slot(number) * chunk; }

  Split split{};  // which parts of the message have been taken; `moved` counts what the sender has written by itself
  const std::size_t message;  // bytes
  const std::size_t chunk;
  const std::size_t slots;
  const std::size_t first;                            // the slot of chunk 0
  alignas(64) std::atomic<std::uint32_t> filled{0};   // chunks, by the sender
  alignas(64) std::atomic<std::uint32_t> emptied{0};  // by the receiver
  std::uint32_t bytes[most_slots];                    // in each slot
};
static_assert(sizeof(Stage) <= Stage::head);
static_assert(Stage::longest_eager <= Stage::longest_ring);
static_assert(Stage::slots_of(Stage::longest_ring) <= Stage::most_slots);

}  // namespace heddle::message
