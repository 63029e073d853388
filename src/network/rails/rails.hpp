// Several networks to the same peers, as one: each is a rail.
//
// A message is posted over the first rail that takes it; pieces of a long message go over the rail that is named. Rails
// together keep no order, so ordered messages are reordered above (remote.hpp). Any rail wakes a blocked thread, and a
// request for room applies to all rails.
//
// Source: the rails of NewMadeleine (Aumage, Brunet, Furmento, Namyst 2007).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "network/descriptor.hpp"
#include "network/network.hpp"
#include "network/networks.hpp"

namespace heddle::lln {

class Rails final : public Network {
 public:
  // Two or more. Throws std::runtime_error: there are no descriptors.
  explicit Rails(std::vector<Networks::End> rails);

  const Traits& traits() const override { return traits_; }
  int rails() const override { return static_cast<int>(rails_.size()); }
  int last_rail() const override { return last_; }
  Posted post(int peer, const Envelope& envelope, std::size_t bytes, Fill fill) override;
  Posted post_over(int rail, int peer, const Envelope& envelope, std::size_t bytes, Fill fill) override;
  Posted post_long(int peer, std::uint64_t landing, std::span<const std::byte> memory, std::uint64_t ours) override;
  int poll(int most, Sink sink) override;
  bool is_moving() const override;
  bool arrived() const override;
  bool any_under_way() const override;
  int slow_peer() const override;
  void give_up(int peer) override;
  void flush() override;
  void want_room(int peer) override;
  void forget_room() override;
  bool arm() override;
  int wake_fd() const override { return events_.number(); }
  std::int64_t poll_again_after() const override;

 private:
  std::vector<Networks::End> rails_;
  Traits traits_;
  Descriptor events_;      // an epoll instance over those of the rails
  std::size_t first_ = 0;  // the first one to poll next time
  std::size_t next_ = 0;   // the rail for the next long message
  int last_ = 0;
};

}  // namespace heddle::lln
