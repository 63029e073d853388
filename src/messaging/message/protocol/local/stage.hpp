// Staged copy: a long message goes through a ring of chunks in shared memory; one side packs while the other unpacks (transfers.hpp).
//
// The reader finds a chunk in a cache that both cores share. A message that fits into the ring starts at the ring's beginning: of two
// ranks that answer each other, each writes to the stage that it has just read (kept_stages.hpp), so a line moves between the cores once
// (docs/adr/0079). A longer message starts where the previous one ended. The ring is larger than a core's own cache: the writer would
// have to take a line that the reader still has in its cache. Pages that are not used take no memory.
//
// Chunks are claimed as in a split copy: the sender claims them from the front, one by one. A side that sees no progress for a while,
// since the other side computes or has no core, claims a chunk from the back, if the kernel permits that, and copies it alone: the
// receiver reads, the sender writes. So neither side is delayed.
//
// Source: the pipelines of MPI libraries over shared memory (Buntinas, Mercier, Gropp 2006, Nemesis' large messages), and the split copy
// of Díaz-Martín 2014.
//
// Memory orders: a count of chunks releases the bytes that were written or read; the side that reads the count acquires them.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "messaging/message/choose.hpp"
#include "messaging/message/protocol/local/split.hpp"

namespace heddle::message {

// In memory that both ranks map: at the start of a block of block_of(message) bytes, before the ring. The receiver creates it; for an
// early message the sender does.
struct alignas(64) Stage {
  static constexpr std::size_t least_block = 64 * 1024, longest_block = 2048 * 1024;
  static constexpr std::size_t head = 4096;  // bytes of a block before its ring; so chunks begin at a page
  static constexpr std::size_t longest_ring = longest_block - head;
  static constexpr std::size_t least_chunk = 4 * 1024, longest_chunk = 32 * 1024;
  static constexpr std::size_t most_slots = (longest_ring + longest_chunk - 1) / longest_chunk;

  // A power of two, as are all blocks of the heap.
  static constexpr std::size_t block_of(std::size_t message) {
    return std::bit_ceil(std::clamp(message, least_block - head, longest_ring) + head);
  }
  // The length of a chunk. A short message has several chunks too, so that both sides work most of the time.
  static constexpr std::size_t chunk_of(std::size_t message) {
    return std::clamp(message / 4 / Split::unit * Split::unit, least_chunk, longest_chunk);
  }

  // The number of slots of the ring. A message that fits into the ring needs one slot for each chunk; the last chunk may be short.
  static constexpr std::size_t slots_of(std::size_t message) {
    const std::size_t ring = block_of(message) - head, chunk = chunk_of(message);
    return message <= ring ? (message + chunk - 1) / chunk : ring / chunk;
  }

  // The first chunk is placed at `begin` in the ring, or a little before it.
  Stage(std::size_t message, std::size_t begin)
      : message(message), chunk(chunk_of(message)), slots(slots_of(message)), first(begin / chunk) {}

  std::size_t block() const { return block_of(message); }
  std::size_t slot(std::uint32_t number) const { return (first + number) % slots; }
  std::byte* place(std::uint32_t number) { return reinterpret_cast<std::byte*>(this) + head + slot(number) * chunk; }

  Split split{};              // claimed parts of the message; `moved` counts bytes that the sender has copied alone
  const std::size_t message;  // bytes
  const std::size_t chunk;
  const std::size_t slots;
  const std::size_t first;                            // the slot of chunk 0
  alignas(64) std::atomic<std::uint32_t> filled{0};   // chunks, counted by the sender
  alignas(64) std::atomic<std::uint32_t> emptied{0};  // counted by the receiver
  std::uint32_t bytes[most_slots];                    // in each slot
};
static_assert(sizeof(Stage) <= Stage::head);
static_assert(early_stage_bytes <= Stage::longest_ring);
static_assert(Stage::slots_of(Stage::longest_ring) <= Stage::most_slots);

}  // namespace heddle::message
