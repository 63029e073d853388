// Lane merge: one order for the messages that one rank has spread over several lanes, such that two messages of one thread keep theirs.
//
// Source: ours. A lane is a FIFO way from the sending rank, and threads do not share it by choice. A thread that sends through another
// lane than for its last message stamps the message with the time, before it enters the lane. A message counts with the latest stamp in its
// lane up to itself. Messages are taken in passes: a pass takes, lane by lane, everything that is there, and is complete when it has taken
// all that was noted in the lane as it began: a thread notes the messages of a lane before it sends through another one (slot_ring.hpp,
// note_claims), since another thread's slot that is not yet filled may hide them.
//
// A message p of pass k leaves after the next pass is complete, and after all messages with an earlier stamp that were taken up to pass
// k + 1. Proof, for m before p by the same thread:
//
//   1. Same lane: the lane is FIFO, and only its first message may leave.
//   2. Another lane, and p has a stamp s of its own. All stamps that count for m were taken before their messages entered m's lane, so
//      before m did, so before the thread read s: m counts with an earlier stamp than p.
//   3. Another lane, and p has none of its own. The thread's last message in p's lane before it is q with a stamp of its own, or q is
//      another message of the thread with none; by induction there is a q with a stamp in that lane, after m, or m is in that lane. p
//      counts with the stamp of q at least.
//   4. The thread noted m, or a later message of m's lane, before p was in its lane: so the pass after the one that took p has seen the
//      note, and has taken m, if none had before.
//
// Progress: the first messages of the lanes are compared. Each complete pass confirms all messages of earlier passes; among the confirmed
// first messages one has the earliest stamp. A message that comes two passes later or more holds none back. So a lane that never ends
// cannot stop the others.
//
// One thread at a time.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace heddle::sync {

// The number of passes, which are the same for all ranks that send.
class LanePasses {
 public:
  std::uint32_t present() const { return complete_ + 1; }
  // The present pass is complete. Without this call the next visit to the lanes continues it.
  void end_pass() { ++complete_; }
  // A pass has been complete since the one with this number.
  bool is_confirmed(std::uint32_t pass) const { return is_before(pass, complete_); }
  // The numbers wrap around.
  static bool is_before(std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a - b) < 0; }

 private:
  std::uint32_t complete_ = 0;
};

// Links: next(item), set_next(item, other), stamp(item), pass(item), set_pass(item, number).
template <class Item, class Links>
class LaneMerge {
 public:
  // Throws std::bad_alloc.
  LaneMerge(std::size_t lanes, const LanePasses& passes) : passes_(passes), lanes_(new Lane[lanes]) {}

  // Adds a message that the present pass has taken from a lane, in order of arrival.
  void add(std::size_t lane, Item& item) {
    Links::set_next(item, nullptr);
    Links::set_pass(item, passes_.present());
    Lane& queue = lanes_[lane];
    if ((filled_ >> lane & 1) != 0) {
      Links::set_next(*queue.last, &item);
    } else {
      queue.first = &item;
      filled_ |= std::uint64_t{1} << lane;
    }
    queue.last = &item;
  }
  bool any() const { return filled_ != 0; }

  // The next message in order, which leaves. Null: there is none, or another pass has to show what comes before.
  Item* take() {
    const int lane = next_lane();
    if (lane < 0) return nullptr;
    Lane& queue = lanes_[lane];
    Item& item = *queue.first;
    queue.first = Links::next(item);
    if (queue.first == nullptr) filled_ &= ~(std::uint64_t{1} << lane);
    return &item;
  }

 private:
  struct Lane {
    Item* first;
    Item* last;
  };

  template <class F>
  bool any_first(F&& holds) const {
    for (std::uint64_t lanes = filled_; lanes != 0; lanes &= lanes - 1)
      if (holds(*lanes_[std::countr_zero(lanes)].first)) return true;
    return false;
  }
  bool is_held_back(const Item& item) const {
    return any_first([&](const Item& other) {
      return Links::stamp(other) < Links::stamp(item) &&
             !LanePasses::is_before(Links::pass(item) + 1, Links::pass(other));
    });
  }
  int next_lane() const {
    int chosen = -1;
    for (std::uint64_t lanes = filled_; lanes != 0; lanes &= lanes - 1) {
      const int lane = std::countr_zero(lanes);
      const Item& item = *lanes_[lane].first;
      const bool is_earlier = chosen < 0 || Links::stamp(item) < Links::stamp(*lanes_[chosen].first);
      if (is_earlier && passes_.is_confirmed(Links::pass(item)) && !is_held_back(item)) chosen = lane;
    }
    return chosen;
  }

  const LanePasses& passes_;
  std::unique_ptr<Lane[]> lanes_;
  std::uint64_t filled_ = 0;  // lanes with messages
};

}  // namespace heddle::sync
