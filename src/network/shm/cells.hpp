// Cells: where a message longer than a slot lies, of two ranks that answer each other. A cell is the sender's until it has sent a message in
// it, and the receiver's as soon as that one has read it, who sends its next message in it.
//
// So a rank writes to lines that it has just read, which are in its own cache: each crosses once a message. In a ring, whose bytes go back to
// the sender, a line crosses twice: to the receiver, and back to be written again. Half a round trip of 8 KiB takes 0.49 us with cells and
// 1.12 with the ring alone, 1.3 and 4.4 where the cores share no cache (docs/adr/0079).
//
// Nothing is given back. Of a rank that is not answered all cells are soon the other's; then its messages go through the ring.
//
// Source: the cells of Nemesis (Buntinas, Mercier, Gropp 2006), which return to their sender; that they stay with the receiver is ours.
//
// Memory orders: a cell is handed over by the slot that says where the message lies.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/node/heap.hpp"

namespace heddle::lln::shm {

// Those of one pair that this rank may write to; private memory, all zero at first. One thread at a time.
class Cells {
 public:
  static constexpr std::size_t of_a_channel = 2;  // which its sender has at first

  void add(node::Offset cell) { own_[count_++] = cell; }
  // The one that was read last, whose lines are most likely in this core's cache; nowhere: there is none.
  node::Offset next() const { return count_ != 0 ? own_[count_ - 1] : node::nowhere; }
  // That one has been sent.
  void drop() { --count_; }

 private:
  std::uint32_t count_;
  std::array<node::Offset, 2 * of_a_channel> own_;
};

}  // namespace heddle::lln::shm
