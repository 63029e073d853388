// Several messages to one rank in one packet of a network, and their cost in the credit of its receiver.
//
// Each message has a head and its payload, one behind the other from the packet's first byte on, at multiples of 8
// bytes. One message alone goes without a head.
//
// Source: the aggregation of NewMadeleine (Aumage, Brunet, Furmento, Namyst 2007).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "network/credits.hpp"
#include "network/header.hpp"

namespace heddle::lln {

// Before the payload of a message in a packet.
struct PartHead {
  Header header;
  std::uint64_t bytes;  // of the payload
};

// The composition of a packet: the messages that it will carry.
class Packet {
 public:
  enum class Added : std::uint8_t { yes, full, no_credit };
  struct Part {
    Header header;
    std::size_t bytes;
  };

  static constexpr std::size_t most_parts = 256;

  // Throws std::bad_alloc; the other functions throw nothing.
  Packet() { parts_.reserve(most_parts); }

  // Starts an empty packet of at most so many bytes, to a rank with so much credit left.
  void begin(std::size_t most, const Credits& credits) {
    parts_.clear();
    most_ = most;
    bytes_ = 0;
    credits_ = credits;
  }
  // A message of at most `most` bytes always has room in an empty packet, unless it waits for credit.
  Added add(const Header& header, std::size_t bytes) {
    const std::size_t with_it = bytes_ + sizeof(PartHead) + padded(bytes);
    if (!parts_.empty() && (with_it > most_ || parts_.size() == most_parts)) return Added::full;
    if (needs_credit(header.kind)) {
      if (!credits_.suffice_for(bytes)) return credits_.are_coming_for(bytes) ? Added::full : Added::no_credit;
      credits_.consume(bytes);
    }
    bytes_ = with_it;
    parts_.push_back({header, bytes});
    return Added::yes;
  }

  std::size_t size() const { return parts_.size(); }
  const Part& operator[](std::size_t i) const { return parts_[i]; }
  std::size_t bytes() const { return bytes_; }
  const Credits& credits() const { return credits_; }  // the credit left after it

  // write(i, std::byte*) writes the payload of message i.
  template <class Write>
  void write(std::byte* to, Write&& write) const {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const PartHead head{parts_[i].header, parts_[i].bytes};
      std::memcpy(to, &head, sizeof head);
      write(i, to + sizeof head);
      to += sizeof head + padded(parts_[i].bytes);
    }
  }
  // Hands the messages behind the first `taken` to sink(header, payload, bytes), and counts the delivered ones in
  // `taken`: the sink may throw, and gets the same message again at the next call. False: the packet is malformed;
  // messages before the defect have been handed over.
  template <class Sink>
  static bool read(const std::byte* from, std::size_t bytes, std::uint32_t& taken, Sink&& sink) {
    for (std::uint32_t i = 0;; ++i) {
      PartHead head;
      if (bytes < sizeof head) return false;
      std::memcpy(&head, from, sizeof head);
      if (head.bytes > bytes - sizeof head) return false;
      if (i >= taken) {
        sink(head.header, from + sizeof head, static_cast<std::size_t>(head.bytes));
        ++taken;
      }
      const std::size_t step = sizeof head + padded(static_cast<std::size_t>(head.bytes));
      if (step >= bytes) return true;
      from += step;
      bytes -= step;
    }
  }

 private:
  static constexpr std::size_t padded(std::size_t bytes) { return (bytes + 7) & ~std::size_t{7}; }

  std::vector<Part> parts_;
  std::size_t most_ = 0;
  std::size_t bytes_ = 0;
  Credits credits_;
};

}  // namespace heddle::lln
