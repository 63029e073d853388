// The steps of an operation over several nodes inside each of them, through the memory of the members there: up to the
// leader of the node (mpi/coll/leaders.hpp), and down from it with the result of the steps between the nodes.
//
//     Steps steps(region, signature, leader);
//     steps.up(waiting members, fill a slot, work of the last to come on all slots)
//     ... the leader: between the nodes ...
//     steps.down(fill the leader's slot, read it)        or pass(), if no member waits for a result
//
// Every operation takes two rounds of the region, whatever it is, and all are counted in the first. So members that
// disagree stay in step: a member that waits in the first round learns it there, one that waits in the second from the
// leader, which always reports success or failure. No member leaves the region, and no wait is without end.
#pragma once

#include "mpi/coll/node/region.hpp"

namespace heddle::coll {

class Steps {
 public:
  // The members that wait in the first round: none; the leader alone; all, which then know if they agree.
  enum class Waiting : std::uint8_t { none, leader, everyone };

  Steps(Region& region, const Signature& signature, int leader)
      : region_(region), signature_(signature), leader_(leader) {}
  // A leader that is stopped by an exception tells the others.
  ~Steps() {
    if (!leads() || is_down_) return;
    agreed_ = false;
    pass();
  }
  Steps(const Steps&) = delete;
  Steps& operator=(const Steps&) = delete;

  bool leads() const { return region_.members().rank == leader_; }
  // For the leader: data of other nodes are wrong, and the other members learn that too.
  void fail_here() { agreed_ = false; }
  // False: members disagree, as far as this one has learned.
  bool agreed() const { return agreed_; }
  Error disagreement() const { return region_.disagreement(first_, signature_); }

  // `fill(std::byte*)` writes this member's slot of `signature.bytes`. The last to come calls `work()`, if all agree.
  template <class Fill, class Work>
  void up(Waiting waiting, Fill&& fill, Work&& work) {
    first_ = region_.enter();
    fill(slot(region_.members().rank));
    all_arrived_ = waiting != Waiting::none;
    if (region_.arrive(first_, signature_)) {
      agreed_ = region_.agreed();
      if (agreed_) work();
      if (waiting != Waiting::none || !agreed_)
        region_.open(first_, agreed_ ? signature_.kind : Signature::none,
                     [&](int m) { return waiting == Waiting::everyone || !agreed_ || m == leader_; });
    } else if (waiting == Waiting::everyone || (waiting == Waiting::leader && leads())) {
      agreed_ = region_.await_open(first_, signature_.kind);
    }
    if (!leads()) region_.finish(first_);  // the leader reads slots until the end
  }
  void up(Waiting waiting) {
    up(
        waiting, [](std::byte*) {}, [] {});
  }
  // A member's slot of the first round.
  std::byte* slot(int member) const { return region_.slot(first_, member, signature_.bytes); }

  // The leader's `fill(std::byte*)` writes `bytes` of result; the others' `read(const std::byte*, bytes)` gets them.
  // For more than a slot only success is reported, and neither is called.
  template <class Fill, class Read>
  void down(std::size_t bytes, Fill&& fill, Read&& read) {
    is_down_ = true;
    const Round second = region_.enter();
    if (leads()) {
      if (agreed_ && bytes <= Region::large_slot) fill(region_.slot(second, leader_, bytes));
      region_.slot_set(second).bytes = bytes;
      region_.open(second, agreed_ ? signature_.kind : Signature::none);
    } else if (!region_.await_leader(second, signature_.kind, leader_)) {
      agreed_ = false;
    } else if (const std::size_t told = region_.slot_set(second).bytes; told <= Region::large_slot) {
      read(region_.slot(second, leader_, told), told);
    } else {
      read(nullptr, told);
    }
    if (all_arrived_) region_.all_seen_in(first_);
    region_.finish(second);
  }
  void down() {
    down(
        0, [](std::byte*) {}, [](const std::byte*, std::size_t) {});
  }
  // No member of this operation waits for the leader; a member that takes it for another operation gets an error.
  void pass() {
    is_down_ = true;
    const Round second = region_.enter();
    if (leads() && !agreed_) region_.open(second, Signature::none);
    region_.finish(second);
  }

 private:
  Region& region_;
  Signature signature_;
  int leader_;
  Round first_ = 0;
  bool agreed_ = true;
  bool all_arrived_ = false;  // the leader goes on only when all have come
  bool is_down_ = false;
};

}  // namespace heddle::coll
