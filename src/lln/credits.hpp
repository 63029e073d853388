// Credits between two ranks on different nodes: what one has sent unasked and the other has not received is bounded.
//
// A message that is sent unasked (eager) consumes credit at its sender, as many bytes as its receiver needs to keep it. The receiver
// frees that when the message has met its receive and its data have been copied out, and returns what it has freed: with any message that
// goes the other way, or with one that carries nothing else when half of the window is due. A sender whose credit does not suffice
// announces the message and is asked for it (rendezvous). So nobody ever waits for credit, and credit that comes late costs time only.
//
// A sender whose messages are announced for want of credit, though their receives are there, does not run ahead: it only has more under
// way than the window, as many threads have, or longer ones. Its receiver returns more than it has freed, and so widens the window.
//
// Source: the user-level flow control of Liu and Panda 2004, with rendezvous in place of waiting.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heddle::lln {

// Our side of one pair of ranks, on one VNI.
class Credits {
 public:
  // Bytes at one receiver for one sender, at first. 256 empty messages or 37 of 1,500 bytes: more than programs send ahead that are right for
  // every MPI, and what is on the wire in 5 microseconds at 100 Gbit/s; and 64 MiB for a thousand peers that all run ahead.
  static constexpr std::uint32_t window = 64 * 1024;
  // And at most: 8 threads that have 64 empty messages each under way need an eighth of it.
  static constexpr std::uint32_t widest = 1024 * 1024;
  // What keeping a message costs beside its payload.
  static constexpr std::uint32_t per_message = 256;
  static constexpr std::uint64_t cost(std::size_t bytes) { return per_message + std::uint64_t{bytes}; }
  // The longest message that goes unasked at first: one does not take more than half of the window, or each would have to be answered by
  // credit. What is longer waits for a window that is wide enough.
  static constexpr std::size_t longest_at_first = window / 2 - per_message;

  // ---- The sender's. Whether a message of so many bytes may be sent unasked; it has been; credit has come back.
  bool suffice_for(std::size_t bytes) const {
    if (bytes >= widest) return false;
    const auto needed = static_cast<std::int64_t>(cost(bytes));
    return consumed_ + (bytes <= longest_at_first ? needed : 2 * needed) <= window;
  }
  void consume(std::size_t bytes) { consumed_ += static_cast<std::int64_t>(cost(bytes)); }
  // False: more than was consumed, and than the window may become wider.
  bool replenish(std::uint32_t credit) {
    if (consumed_ - credit < std::int64_t{window} - widest) return false;
    consumed_ -= credit;
    return true;
  }
  std::int64_t consumed() const { return consumed_; }  // negative: the window has become wider
  // Several have been sent, after which `left` says what is consumed.
  void replace_consumed(const Credits& left) { consumed_ = left.consumed_; }

  // ---- The receiver's. A message of so many bytes needs no memory any more; what is to be returned; whether that is worth a message of
  // its own; it has been returned.
  void free(std::size_t bytes) { owed_ += static_cast<std::uint32_t>(cost(bytes)); }
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
  std::int64_t consumed_ = 0;
  std::uint32_t owed_ = 0;
  std::uint32_t width_ = window;
};

}  // namespace heddle::lln
