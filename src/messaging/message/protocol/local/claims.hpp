// Claims decide who owns a message that has not reached its receiver, or that must be acknowledged: the receiver, when a receive matches
// it, or the sender, when it cancels the message. MPI_Wait of a cancelled send must return whatever the receiver does (MPI 5.0, section
// 3.8.4), so the sender cannot ask the receiver. Each such message has a word in the job's shared memory, and the first of the two to
// change it wins.
//
// The receiver claims the message with one exchange when it has found the matching receive; from then on it has to finish the message. If
// the sender wins, its send completes at once: no part of the message has been received, and the buffer is the program's again. The
// announcement is still in the channel or among the receiver's unexpected messages, and the receiver drops it when it finds it. The
// announcement has no pointer that the receiver follows before it has claimed the message.
//
// The words belong to the sender, which reuses them. It reuses the word of a received message when that message is finished, the word of
// a withdrawn message when the receiver has dropped it, and the word of an early staged message when it sees that the message was
// received. Short messages have no word: they are at the receiver when the send returns.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/node/heap.hpp"

namespace heddle::message {

class Claims {
 public:
  using Offset = node::Offset;
  enum class State : std::uint32_t { open, received, withdrawn, dropped };

  explicit Claims(node::Heap& heap) : heap_(heap) {}

  // ---- For the sender, with the VNI's lock held

  // Creates an open claim. `nowhere`: there is no memory, and the message cannot be withdrawn.
  Offset make();
  // The number of claims whose messages are neither finished, withdrawn nor left.
  std::size_t in_use() const { return made_ - free_.size() - withdrawn_.size() - left_.size(); }
  // The bytes of the node's memory that it keeps.
  std::size_t node_memory() const { return made_ * sizeof(Word); }
  // The claim's message is finished. This needs no memory: make() has reserved it.
  void recycle(Offset claim) { free_.push_back(claim); }
  // The send is complete and can no longer be withdrawn, but the message may not have been received.
  void leave(Offset claim) { left_.push_back(claim); }
  // The number of messages after leave() that have not been received.
  std::size_t unread();
  // True: the sender owns the message again.
  bool withdraw(Offset claim);

  // ---- For the receiver

  // True: the receiver owns the message. False: the receiver has to drop it.
  static bool receive(node::Heap& heap, Offset claim);
  static bool is_withdrawn(node::Heap& heap, Offset claim);
  static void drop(node::Heap& heap, Offset claim);

 private:
  struct alignas(64) Word {
    std::atomic<State> state;
  };
  static constexpr std::size_t words = 64;  // allocated together

  void collect(std::vector<Offset>& from, State over);

  node::Heap& heap_;
  std::size_t made_ = 0;
  std::vector<Offset> free_;
  std::vector<Offset> withdrawn_;
  std::vector<Offset> left_;
};

}  // namespace heddle::message
