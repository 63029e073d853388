#include "network/route.hpp"

namespace heddle::lln {

namespace {

// A network that is busy with itself, with a first connection for example, is polled so often without a sleep, and then
// after so many nanoseconds each time: the process that it waits for may need this core.
constexpr int most_unarmed = 64;
constexpr std::int64_t unarmed_sleep = 200'000;

}  // namespace

Route::Route(node::Node& node, Networks* networks, int vni, Claiming claiming, bool many_threads,
             instruments::Counters& counters)
    : node_(node),
      shm_(node, vni, claiming, many_threads ? shm::SlotCount::many : shm::SlotCount::usual),
      remote_(networks != nullptr ? std::make_unique<Remote>(counters, networks->bound()) : nullptr),
      watch_(networks != nullptr ? &networks->watch() : nullptr) {}

void Route::begin_wanting_room() {
  if (!remote_) return;
  remote_->network().forget_room();
  remote_->want_room_for_credit();
}

void Route::want_room(int peer) {
  if (is_remote(peer)) {
    remote_->network().want_room(peer);
  } else {
    shm_.want_room(peer);
  }
}

void Route::give_up(int peer) {
  if (remote_ && is_remote(peer)) remote_->give_up(peer);
}

void Route::flush() {
  if (remote_) remote_->network().flush();
}

void Route::arm() {
  if (!remote_) return;
  Network& network = remote_->network();
  if (network.arm()) {
    unarmed_ = 0;
    watch_->arm(network.wake_fd(), network.poll_again_after());
  } else if (++unarmed_ > most_unarmed) {
    watch_->arm_timer(unarmed_sleep);
  } else {
    node_.own_bell().wake_blocked();
  }
}

}  // namespace heddle::lln
