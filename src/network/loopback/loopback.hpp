// A hostile network for tests: it shares no memory, takes only short messages, refuses some of them at random, and
// delivers them late and in any order. A protocol that works over it works over a real network.
//
// Messages are datagrams between Unix sockets of one machine, so the kernel loses none and reports a peer's full queue.
// Random choices follow from a seed. A narrow loopback takes a message only when the peer has read the previous one:
// the number of waiting messages then depends on the receiver alone, and not on the sender's speed.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "network/component.hpp"
#include "network/directory.hpp"
#include "network/membership.hpp"
#include "network/network.hpp"

namespace heddle::lln {

class Loopback final : public Network {
 public:
  // The end of one VNI of a rank; it publishes its address. Throws std::runtime_error: there are no sockets.
  Loopback(const Surroundings& surroundings, std::uint64_t seed, bool is_narrow = false);
  ~Loopback() override;

  const Traits& traits() const override;
  Posted post(int peer, const Envelope& envelope, std::size_t bytes, Fill fill) override;
  Posted post_long(int, std::uint64_t, std::span<const std::byte>, std::uint64_t) override { return Posted::busy; }
  int poll(int most, Sink sink) override;
  bool arrived() const override;
  bool any_under_way() const override { return false; }
  int slow_peer() const override { return -1; }
  void give_up(int peer) override;
  void flush() override {}
  void want_room(int peer) override;
  void forget_room() override;
  bool arm() override { return true; }  // the descriptor is always current
  int wake_fd() const override { return events_; }
  std::int64_t poll_again_after() const override;

 private:
  // Our socket for one peer: it is writable when that peer's queue has room.
  struct Peer {
    int socket = -1;
    std::uint64_t token = 0;
    bool room_wanted = false;
    bool given_up = false;
  };
  struct Held {
    std::uint32_t polls;  // until it is delivered
    std::vector<std::byte> packet;
  };

  bool connect(int peer, Peer& there);
  bool has_room(const Peer& there) const;
  void watch_room(Peer& there, bool wanted);
  void receive();
  bool is_of_job(std::span<const std::byte> packet);
  void say_held();
  std::uint32_t random(std::uint32_t below);

  Directory& directory_;
  const int rank_;
  const int vni_;
  const bool is_narrow_;
  const Membership membership_;
  FunctionRef<void(const char*)> fail_;
  FunctionRef<void(const char*)> note_;
  int socket_ = -1;  // where messages arrive
  int events_ = -1;  // an epoll instance: see wake_fd()
  int holds_ = -1;   // an eventfd, readable while messages are held
  std::map<int, Peer> peers_;
  bool peers_unknown_ = false;  // a thread waits for room at a peer that has published no address yet
  std::vector<Held> held_;      // arrived and not delivered
  std::atomic<bool> any_held_{false};
  std::vector<std::byte> packet_;    // the packet being sent
  std::vector<std::byte> incoming_;  // room for the next one
  std::uint64_t random_;
};

}  // namespace heddle::lln
