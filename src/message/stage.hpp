// A staged copy: a long message goes through a ring of chunks in shared memory, one side packing while the other unpacks (transfer.hpp).
//
// A chunk is read from a cache that both cores reach. A message that fits into the ring begins at its start: of two ranks that answer each
// other, who take the same block in turn, each writes to lines that it has just read, and a line crosses once (docs/adr/0079). A longer one
// goes on where the one before it ended: a line that the reader still has in a cache of its own has to be taken from there before it is
// written again (`latency --size 1048576`, a ring of 508 KiB: 48 us, and 60 with one of 256 KiB that each message began anew; a 2-core AMD EPYC
// VM with 512 KiB of second-level cache).
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
#include <cstddef>
#include <cstdint>

#include "message/split.hpp"

namespace heddle::message {

// In memory that both ranks see. The receiver makes it.
struct Stage {
  static constexpr std::size_t ring_bytes = 508 * 1024;  // with the rest a block of the heap
  static constexpr std::size_t least_chunk = 4 * 1024, longest_chunk = 32 * 1024;
  static constexpr std::size_t most_slots = ring_bytes / least_chunk;

  // The length of a chunk: some of a short message, so that both sides are at work for most of the time.
  static constexpr std::size_t chunk_of(std::size_t message) {
    return std::clamp(message / 4 / Split::unit * Split::unit, least_chunk, longest_chunk);
  }

  // Its first chunk comes to the place `begin` of the ring, or a little before it.
  Stage(std::size_t message, std::size_t begin) : chunk(chunk_of(message)), first(begin / chunk) {}

  std::size_t slots() const { return ring_bytes / chunk; }
  std::size_t slot(std::uint32_t number) const { return (first + number) % slots(); }
  std::byte* place(std::uint32_t number) { return ring + slot(number) * chunk; }

  Split split{};  // which parts of the message have been taken; `moved` counts what the sender has written by itself
  const std::size_t chunk;
  const std::size_t first;                            // the slot of chunk 0
  alignas(64) std::atomic<std::uint32_t> filled{0};   // chunks, by the sender
  alignas(64) std::atomic<std::uint32_t> emptied{0};  // by the receiver
  std::uint32_t bytes[most_slots];                    // in each slot
  alignas(64) std::byte ring[ring_bytes];
};
static_assert(sizeof(Stage) <= 512 * 1024);

}  // namespace heddle::message
