// Credits between two ranks on different nodes. They bound the eager messages that the sender has sent and the receiver
// has not polled, and so the memory of those that arrive before their receive.
//
// An eager message consumes credit at its sender, as many bytes as its receiver needs to store it. The receiver returns
// the credit once it has matched the message or stored it as an unexpected message. The credit travels with any message
// in the other direction, or with an empty one when half of the window is due. So a receiver inside MPI never stops its
// sender; a receiver outside MPI stops it after one window.
//
// Once the unexpected messages of a sender exceed a bound, its receiver closes: it notifies the sender and returns no
// credit for the messages that it stores. It opens, and returns the withheld credit, when half of the bound is free
// again. While the receiver is open, a short message without credit waits at its sender, since the receiver's next poll
// returns credit; while it is closed, the sender sends an RTS. A longer message needs a window of twice its cost and
// goes by RTS without that; if it matches at once, the receiver returns more credit than it owes and so widens the
// window.
//
// Source: the user-level flow control of Liu and Panda 2004, with a bound in bytes and rendezvous beyond it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heddle::lln {

// Our side of one pair of ranks, on one VNI.
class Credits {
 public:
  // The initial bytes in flight from one sender to one receiver. 256 empty messages or 37 of 1,500 bytes: 5
  // microseconds at 100 Gbit/s; and 64 MiB for a thousand peers whose receiver is outside MPI.
  static constexpr std::uint32_t window = 64 * 1024;
  // And at most.
  static constexpr std::uint32_t widest = 1024 * 1024;
  // Bytes to store a message beside its payload.
  static constexpr std::uint32_t per_message = 256;
  static constexpr std::uint64_t cost(std::size_t bytes) { return per_message + std::uint64_t{bytes}; }
  // The longest message that is eager at first, half of the window, or each would need a credit message in return. A
  // longer one needs a wider window.
  static constexpr std::size_t longest_at_first = window / 2 - per_message;

  // ---- The sender's part. True if an eager message of so many bytes may be sent, else it waits for credit. Then: it
  // has been sent; credit has come back.
  bool suffice_for(std::size_t bytes) const {
    if (bytes >= widest) return false;
    const auto needed = static_cast<std::int64_t>(cost(bytes));
    return consumed_ + (bytes <= longest_at_first ? needed : 2 * needed) <= window;
  }
  bool are_coming_for(std::size_t bytes) const { return bytes <= longest_at_first && !is_closed(heard_); }
  void consume(std::size_t bytes) { consumed_ += static_cast<std::int64_t>(cost(bytes)); }
  // False: the credit exceeds the bytes consumed and the bound of the window.
  bool replenish(std::uint32_t credit) {
    if (consumed_ - credit < std::int64_t{window} - widest) return false;
    consumed_ -= credit;
    return true;
  }
  // The receiver's state(). Messages that carry it have no order.
  void hear(std::int32_t state) {
    if (static_cast<std::int32_t>(static_cast<std::uint32_t>(state) - static_cast<std::uint32_t>(heard_)) > 0)
      heard_ = state;
  }
  std::int64_t consumed() const { return consumed_; }  // negative: the window has become wider
  // Several have been sent, and `left` holds the consumed bytes after them.
  void replace_consumed(const Credits& left) { consumed_ = left.consumed_; }

  // ---- The receiver's part. A message of so many bytes has matched on arrival.
  void free(std::size_t bytes) { owed_ += static_cast<std::uint32_t>(cost(bytes)); }
  // A message is stored; it is stored no longer. True if the receiver has closed, or opened.
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
  // The credit to return; true if it is worth an empty message; it has been returned.
  std::uint32_t owed() const { return owed_; }
  bool is_due() const { return owed_ >= width_ / 2; }
  void clear_owed() { owed_ = 0; }
  std::uint32_t width() const { return width_; }
  bool can_widen() const { return width_ < widest; }
  bool is_narrow_for(std::size_t bytes) const { return 2 * cost(bytes) > width_; }
  // Doubles the window.
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
