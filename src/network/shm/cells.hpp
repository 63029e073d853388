// Cells: memory for messages longer than a slot, between two ranks that answer each other. The sender owns a cell until
// it has sent a message in it; the receiver owns it after it has read the message, and sends its next message in it.
//
// So a rank writes to lines that it has just read, which are in its own cache: each crosses once per message. In a
// ring, whose bytes go back to the sender, a line crosses twice: to the receiver, and back to be written again. Half a
// round trip of 8 KiB takes 0.49 us with cells and 1.12 with the ring alone, 1.3 and 4.4 where the cores share no cache
// (docs/adr/0079).
//
// No cell is returned. If the receiver does not answer, it soon owns all cells; then messages go through the ring.
//
// Source: the cells of Nemesis (Buntinas, Mercier, Gropp 2006), which return to their sender; receiver-owned reuse is
// ours.
//
// Memory orders: a cell is handed over by the slot that names it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/node/heap.hpp"

namespace heddle::lln::shm {

// The cells of one pair that this rank may write to; private memory, all zero at first. One thread at a time.
class Cells {
 public:
  static constexpr std::size_t of_a_channel = 2;  // the sender's cells at first

  void add(node::Offset cell) { own_[count_++] = cell; }
  // The one that was read last, whose lines are most likely in this core's cache; nowhere: there is none.
  node::Offset next() const { return count_ != 0 ? own_[count_ - 1] : node::nowhere; }
  // That cell has been sent.
  void drop() { --count_; }

 private:
  std::uint32_t count_;
  std::array<node::Offset, 2 * of_a_channel> own_;
};

}  // namespace heddle::lln::shm
