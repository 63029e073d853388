// Who gets a message that is not at its receiver yet, or must be acknowledged: the receiver whose receive matches it, or the
// sender who cancels it. MPI_Wait of a cancelled send must return whatever the receiver does (MPI 5.0, section 3.8.4), so the
// sender cannot ask: each such message has a word in the job's shared memory, which one of the two takes first.
//
// The receiver, when it has found the receive that matches, takes the message with one exchange; from then on it is bound to
// finish it. A sender that takes it first is done at once, the message has not been received in any part, and its buffer is
// its own again; the announcement still lies in the channel or among the receiver's unexpected messages, and whoever comes
// across it there drops it. Nothing of it is a pointer that the receiver would follow before it has taken the message.
//
// The words are the sender's, who uses them again: of a message that was received, when it is finished; of one that was
// withdrawn, when the receiver has dropped it; of one whose data have left eagerly, when it is seen to have been received. Short messages,
// which are with their receiver when the send returns, have none.
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

  // ---- The sender's, with the VNI's lock held

  // A new one, open; `nowhere` if there is no memory, and then the message cannot be withdrawn.
  Offset make();
  // Messages of which that is not known yet.
  std::size_t in_use() const { return made_ - free_.size() - withdrawn_.size() - left_.size(); }
  // Its message is finished. There is room for it: make() has seen to that.
  void recycle(Offset claim) { free_.push_back(claim); }
  // Its message is finished for the sender, and cannot be withdrawn any more, but may not have been received.
  void leave(Offset claim) { left_.push_back(claim); }
  // How many of those have not been received.
  std::size_t unread();
  // Whether the message is the sender's again.
  bool withdraw(Offset claim);

  // ---- The receiver's

  // Whether the message is the receiver's. Else it is to be dropped.
  static bool receive(node::Heap& heap, Offset claim);
  static bool is_withdrawn(node::Heap& heap, Offset claim);
  static void drop(node::Heap& heap, Offset claim);

 private:
  struct alignas(64) Word {
    std::atomic<State> state;
  };
  static constexpr std::size_t words = 64;  // that are allocated together

  void collect(std::vector<Offset>& from, State over);

  node::Heap& heap_;
  std::size_t made_ = 0;
  std::vector<Offset> free_;
  std::vector<Offset> withdrawn_;
  std::vector<Offset> left_;
};

}  // namespace heddle::message
