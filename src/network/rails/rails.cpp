#include "network/rails/rails.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

namespace heddle::lln {

namespace {

// The common abilities of all rails.
Traits common_traits(const std::vector<Networks::End>& rails) {
  Traits traits = rails.front()->traits();
  traits.ordered = false;
  for (const Networks::End& rail : rails) {
    const Traits& one = rail->traits();
    traits.eager = std::min(traits.eager, one.eager);
    traits.longs = one.longs == 0 || traits.longs == 0 ? 0 : std::max(traits.longs, one.longs);
  }
  return traits;
}

}  // namespace

Rails::Rails(std::vector<Networks::End> rails)
    : rails_(std::move(rails)), traits_(common_traits(rails_)), events_(epoll_create1(EPOLL_CLOEXEC)) {
  for (const Networks::End& rail : rails_) {
    rail->share_landings(*this);
    epoll_event wanted{.events = EPOLLIN, .data = {.fd = rail->wake_fd()}};
    if (events_.number() < 0 || epoll_ctl(events_.number(), EPOLL_CTL_ADD, rail->wake_fd(), &wanted) != 0)
      throw std::runtime_error("no descriptor for its rails: " + std::string(std::strerror(errno)));
  }
}

Posted Rails::post(int peer, const Envelope& envelope, std::size_t bytes, Fill fill) {
  Posted posted = Posted::busy;
  for (int rail = 0; rail < rails() && posted != Posted::done; ++rail)
    posted = post_over(rail, peer, envelope, bytes, fill);
  return posted;
}

Posted Rails::post_over(int rail, int peer, const Envelope& envelope, std::size_t bytes, Fill fill) {
  last_ = rail;
  return rails_[static_cast<std::size_t>(rail)]->post(peer, envelope, bytes, fill);
}

// Round-robin: a rail that is busy does not delay the others.
Posted Rails::post_long(int peer, std::uint64_t landing, std::span<const std::byte> memory, std::uint64_t ours) {
  Posted posted = Posted::busy;
  for (std::size_t i = 0; i < rails_.size() && posted != Posted::done; ++i) {
    posted = rails_[next_]->post_long(peer, landing, memory, ours);
    next_ = (next_ + 1) % rails_.size();
  }
  return posted;
}

int Rails::poll(int most, Sink sink) {
  bool refused = false;
  const auto take = [&](int sender, const Envelope& envelope, const std::byte* payload, std::size_t bytes) {
    refused = !sink(sender, envelope, payload, bytes);
    return !refused;
  };
  int handed = 0;
  first_ = (first_ + 1) % rails_.size();
  for (std::size_t i = 0; i < rails_.size() && !refused; ++i)
    handed += rails_[(first_ + i) % rails_.size()]->poll(most, take);
  return handed;
}

bool Rails::is_moving() const {
  return std::ranges::any_of(rails_, [](const Networks::End& rail) { return rail->is_moving(); });
}

bool Rails::arrived() const {
  return std::ranges::any_of(rails_, [](const Networks::End& rail) { return rail->arrived(); });
}

bool Rails::any_under_way() const {
  return std::ranges::any_of(rails_, [](const Networks::End& rail) { return rail->any_under_way(); });
}

int Rails::slow_peer() const {
  int peer = -1;
  for (const Networks::End& rail : rails_) peer = std::max(peer, rail->slow_peer());
  return peer;
}

void Rails::give_up(int peer) {
  for (const Networks::End& rail : rails_) rail->give_up(peer);
}

void Rails::flush() {
  for (const Networks::End& rail : rails_) rail->flush();
}

void Rails::want_room(int peer) {
  for (const Networks::End& rail : rails_) rail->want_room(peer);
}

void Rails::forget_room() {
  for (const Networks::End& rail : rails_) rail->forget_room();
}

// Arms all of them, also after one that cannot be armed: the descriptors of the others are polled in any case.
bool Rails::arm() {
  bool armed = true;
  for (const Networks::End& rail : rails_) armed &= rail->arm();
  return armed;
}

std::int64_t Rails::poll_again_after() const {
  std::int64_t soonest = 0;
  for (const Networks::End& rail : rails_)
    if (const std::int64_t after = rail->poll_again_after(); after != 0)
      soonest = soonest == 0 ? after : std::min(soonest, after);
  return soonest;
}

}  // namespace heddle::lln
