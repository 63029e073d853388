// Credits between two ranks on different nodes: the eager messages that one has sent and the other has not polled are bounded, and so is the
// memory of those that arrived before their receive.
//
// An eager message consumes credit at its sender, as many bytes as its receiver needs to keep it. The receiver returns the credit when it has
// taken the message in: matched it, or stored it as an unexpected message. The credit travels with any message that goes the other way, or with
// one that carries nothing else when half of the window is due. So a receiver inside MPI never stops its sender, and one outside MPI does after
// a window.
//
// Once the unexpected messages of a sender occupy more than a bound, its receiver closes: it tells the sender, and returns no credit for
// what it stores. It opens, and returns what it has withheld, when half of the bound is free again. A short message without credit waits at its
// sender while the receiver is open, since credit is on its way then as soon as the receiver polls; while it is closed the message is announced
// (RTS). A longer message needs a window of twice its cost and is announced without that; if it meets its receive at once, the receiver returns
// more than it owes, and so widens the window.
//
// Source: the user-level flow control of Liu and Panda 2004, with a bound in bytes and rendezvous beyond it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heddle::lln {

// Our side of one pair of ranks, on one VNI.
class Credits {
 public:
  // Bytes that one sender may have under way to one receiver, at first. 256 empty messages or 37 of 1,500 bytes: what is on the wire in
  // 5 microseconds at 100 Gbit/s; and 64 MiB for a thousand peers whose receiver is outside MPI.
  static constexpr std::uint32_t window = 64 * 1024;
  // And at most.
  static constexpr std::uint32_t widest = 1024 * 1024;
  // What keeping a message costs beside its payload.
  static constexpr std::uint32_t per_message = 256;
  static constexpr std::uint64_t cost(std::size_t bytes) { return per_message + std::uint64_t{bytes}; }
  // The longest message that is eager at first: one does not take more than half of the window, or each would have to be answered by
  // credit. A longer one needs a wider window.
  static constexpr std::size_t longest_at_first = window / 2 - per_message;

  // ---- The sender's. Whether an eager message of so many bytes may be sent, or else is to wait for credit; it has been sent; credit has
  // come back.
  bool suffice_for(std::size_t bytes) const {
    if (bytes >= widest) return false;
    const auto needed = static_cast<std::int64_t>(cost(bytes));
    return consumed_ + (bytes <= longest_at_first ? needed : 2 * needed) <= window;
  }
  bool are_coming_for(std::size_t bytes) const { return bytes <= longest_at_first && !is_closed(heard_); }
  void consume(std::size_t bytes) { consumed_ += static_cast<std::int64_t>(cost(bytes)); }
  // False: more than was consumed, and than the window may become wider.
  bool replenish(std::uint32_t credit) {
    if (consumed_ - credit < std::int64_t{window} - widest) return false;
    consumed_ -= credit;
    return true;
  }
  // What the receiver says of itself: its state(). Such messages have no order.
  void hear(std::int32_t state) {
    if (static_cast<std::int32_t>(static_cast<std::uint32_t>(state) - static_cast<std::uint32_t>(heard_)) > 0)
      heard_ = state;
  }
  std::int64_t consumed() const { return consumed_; }  // negative: the window has become wider
  // Several have been sent, after which `left` says what is consumed.
  void replace_consumed(const Credits& left) { consumed_ = left.consumed_; }

  // ---- The receiver's. A message of so many bytes has met its receive on arrival.
  void free(std::size_t bytes) { owed_ += static_cast<std::uint32_t>(cost(bytes)); }
  // It has been stored; it is no longer. Whether the receiver has closed, or opened.
  bool store(std::size_t bytes, std::uint64_t bound) {
    stored_ += cost(bytes);
    const bool closes = !is_closed() && stored_ > bound;
    if (closes) next_state();
    (is_closed() ? withheld_ : owed_) += static_cast<std::uint32_t>(cost(bytes));
    return closes;
  }
  bool drop(std::size_t bytes, std::uint64_t bound) {
    stored_ -= cost(bytes);
    if (!is_closed() || stored_ > bound / 2) return false;
    next_state();
    owed_ += withheld_;
    withheld_ = 0;
    return true;
  }
  bool is_closed() const { return is_closed(state_); }
  std::int32_t state() const { return state_; }  // a number that grows, odd while it is closed
  std::uint64_t stored() const { return stored_; }
  std::uint32_t withheld() const { return withheld_; }
  // What is to be returned; whether that is worth a message of its own; it has been returned.
  std::uint32_t owed() const { return owed_; }
  bool is_due() const { return owed_ >= width_ / 2; }
  void settle() { owed_ = 0; }
  std::uint32_t width() const { return width_; }
  bool can_widen() const { return width_ < widest; }
  bool is_narrow_for(std::size_t bytes) const { return 2 * cost(bytes) > width_; }
  // To twice the width.
  void widen() {
    owed_ += width_;
    width_ *= 2;
  }

 private:
  static bool is_closed(std::int32_t state) { return (state & 1) != 0; }
  void next_state() { state_ = static_cast<std::int32_t>(static_cast<std::uint32_t>(state_) + 1); }

  std::int64_t consumed_ = 0;
  std::uint64_t stored_ = 0;
  std::uint32_t owed_ = 0;
  std::uint32_t withheld_ = 0;
  std::uint32_t width_ = window;
  std::int32_t state_ = 0;
  std::int32_t heard_ = 0;
};

}  // namespace heddle::lln
