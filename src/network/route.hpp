// The ways from one VNI of a rank to its peers: shared memory to those of its node, a network to the others. Layers
// above know this file, and no network.
//
// Shared memory is inlined. A message for another node is recognized by a channel that is not open, which a short
// message checks in any case. A job on one node has no network; its cost for the possibility is one test of a null
// pointer in each poll.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/node/node.hpp"
#include "base/result.hpp"
#include "network/header.hpp"
#include "network/network.hpp"
#include "network/remote.hpp"
#include "network/shm/endpoint.hpp"

namespace heddle::lln {

// Bytes at Node::for_networks.
constexpr std::size_t bytes_for_networks(int ranks) { return shm::box_bytes(ranks); }

// A failure: stamps have no order on this machine, so that it has neither fluxes nor lanes.
inline Result<void> stamps_are_ordered() { return shm::stamps_are_ordered(); }

class Route {
 public:
  static constexpr std::size_t inject_bytes = shm::inline_bytes;  // the longest message that inject() takes
  static constexpr std::size_t flux_bytes = shm::flux_bytes;      // the longest that send_by_flux() takes
  static constexpr std::size_t eager_bytes = shm::eager_bytes;    // the longest that post() takes to a local peer
  static constexpr std::size_t in_parts_from = shm::early_notification_bytes;

  // `many_threads`: user-level threads, which come by the thousand. `networks` lead to other nodes; null: there are
  // none. `counters` are the VNI's.
  Route(node::Node& node, Networks* networks, int vni, Claiming claiming, bool many_threads,
        instruments::Counters& counters);
  // Where there are networks, before anything else: the VNI's end, by which messages come from now on.
  void open(Networks::End network) { remote_->open(std::move(network)); }
  // Nothing is sent or polled from here on. The network no longer uses memory of its messages.
  void close() { remote_.reset(); }

  // With the VNI's lock held. Sends a message whose payload `fill(std::byte*)` writes. To a peer on another node: at
  // most remote_eager_bytes(), or it is `busy` for ever; a message that needs credit and has none is not sent.
  template <class Fill>
  Posted post(int peer, const Header& header, std::size_t bytes, Fill&& fill) {
    if (!shm_.is_open(peer)) [[unlikely]]
      if (const auto posted = open(peer, header, bytes, fill)) return *posted;
    return shm_.post(peer, header, bytes, fill);
  }
  // The same for a message of at least in_parts_from bytes, of which `fill(std::byte*, from, n)` writes n bytes: a
  // receiver of this node may be fetching the first ones by then.
  template <class Fill>
  Posted post_in_parts(int peer, const Header& header, std::size_t bytes, Fill&& fill) {
    const auto whole = [&](std::byte* to) { fill(to, 0, bytes); };
    if (!shm_.is_open(peer)) [[unlikely]]
      if (const auto posted = open(peer, header, bytes, whole)) return *posted;
    return shm_.post_notified_early(peer, header, bytes, fill);
  }
  // Any thread, lock-free, where claiming is concurrent: the same, once a first message has opened the way to a local
  // peer.
  template <class Fill>
  Posted inject(int peer, const Header& header, std::size_t bytes, Fill&& fill) {
    return shm_.inject(peer, header, bytes, fill);
  }
  // Any thread, lock-free, where claiming is by flux. False: not this way, now.
  template <class Fill>
  bool send_by_flux(int peer, const Header& header, std::size_t bytes, Fill&& fill) {
    return shm_.send_by_flux(peer, header, bytes, fill);
  }

  // The time of a message's order among those of its rank (network/shm/stamp.hpp).
  static std::uint64_t stamp() { return shm::stamp(); }

  // Hands waiting messages, at most `most` of each peer, to `sink(sender, header, payload, bytes)`, or to the other
  // sink if they come from another node; returns their number. Parts of long messages that moved are added to `moved`.
  // With the VNI's lock held.
  template <class Sink, class RemoteSink>
  int poll(int most, Sink&& sink, RemoteSink&& remote_sink, bool& moved) {
    int messages = shm_.has_fluxes() ? shm_.poll_fluxes(most, sink) : shm_.poll(most, sink);
    if (remote_) [[unlikely]] {
      messages += poll_remote(most, remote_sink);
      moved |= remote_->network().is_moving();
    }
    return messages;
  }
  // With the VNI's lock held: a message of another node that needed credit has matched on arrival, was stored, or is
  // stored no longer.
  void note_matched(int sender, std::size_t bytes) { remote_->note_matched(sender, bytes); }
  void note_stored(int sender, std::size_t bytes) { remote_->note_stored(sender, bytes); }
  void note_dropped(int sender, std::size_t bytes) { remote_->note_dropped(sender, bytes); }
  bool waits_for_credit(int peer, std::size_t bytes) const { return remote_->waits_for_credit(peer, bytes); }
  // The same: a message that came as an RTS only for lack of credit has matched.
  void widen_credit(int sender, std::size_t bytes) { remote_->widen_credit(sender, bytes); }
  // Any thread, a hint: true if poll() would find something; the number of messages taken.
  bool arrived() const { return shm_.arrived() || (remote_ && remote_->arrived()); }
  // For messages on several VNIs (network/shm/endpoint.hpp).
  void note_claims(int peer) { shm_.note_claims(peer); }
  void look_for_noted() { shm_.look_for_noted(); }
  bool has_taken_noted() const { return shm_.has_taken_noted(); }
  // Any thread: false if no rank of this node has ever sent a message here.
  bool is_in_use() const { return shm_.is_in_use(); }
  // Any thread: true if a posted message leaves only when a thread polls.
  bool any_under_way() const { return remote_ && remote_->any_under_way(); }
  // With the VNI's lock held: a peer with messages in flight; -1: there is none.
  int slow_peer() const { return remote_ ? remote_->network().slow_peer() : -1; }
  std::uint32_t taken() const { return shm_.taken() + remote_taken_.load(std::memory_order_relaxed); }

  // After a store for which a blocked local peer must wake.
  void wake(int peer) { shm_.wake(peer); }
  // Before blocking, with the VNI's lock held: a sender whose way is full asks to be woken when there is room. All
  // earlier requests to the network are dropped, except for credit that it has no room for.
  void begin_wanting_room();
  void want_room(int peer);
  // With the VNI's lock held: this peer has failed, see Network::give_up.
  void give_up(int peer);
  // With the VNI's lock held: no thread may poll any longer once any_under_way() returns false.
  void flush();
  // Before blocking, after all such requests: arrivals from other nodes shall wake us.
  void arm();

  node::Node& node() const { return node_; }
  bool is_remote(int peer) const { return !node_.is_local(peer); }
  // The longest eager message to another node. A packet of several may be longer.
  std::size_t remote_eager_bytes() const { return remote_->network().traits().eager; }
  // Bytes: the shortest message to another node that post_long() takes; 0: it takes none.
  std::size_t least_long() const { return remote_->network().traits().longs; }
  // To a peer on another node, as of Remote: a packet of several messages, and whether what comes now may go with others.
  Packet& begin_packet(int peer) { return remote_->begin_packet(peer); }
  const Packet& packet() const { return remote_->packet(); }
  template <class Write>
  Posted post_packet(int peer, Write&& write) {
    return remote_->post_packet(peer, write);
  }
  std::size_t alone_from() const { return remote_->alone_from(); }
  bool is_busy(int peer) const { return remote_->is_busy(peer); }
  bool more_follow(int peer) const { return remote_->more_follow(peer); }
  // After a message was left to share a packet: the library's thread sends it soon, whatever the calling thread does.
  // To a peer on another node, at most remote_eager_bytes(): as post(), over one of so many rails.
  int rails() const { return remote_->network().rails(); }
  template <class Fill>
  Posted post_over(int rail, int peer, const Header& header, std::size_t bytes, Fill&& fill) {
    return remote_->post(peer, header, bytes, fill, rail);
  }
  Landings& landings() { return remote_->network().landings(); }
  Posted post_long(int peer, std::uint64_t landing, std::span<const std::byte> memory, std::uint64_t ours) {
    return remote_->network().post_long(peer, landing, memory, ours);
  }

 private:
  // The first message to a peer, or any to one on another node: its result; nothing: the channel is open now.
  template <class Fill>
  [[gnu::cold, gnu::noinline]] std::optional<Posted> open(int peer, const Header& header, std::size_t bytes,
                                                          Fill& fill) {
    if (is_remote(peer)) {
      if (bytes > remote_eager_bytes()) return Posted::busy;
      return remote_->post(peer, header, bytes, fill);
    }
    if (!shm_.open(peer)) return Posted::no_memory;
    return std::nullopt;
  }
  template <class Sink>
  [[gnu::cold, gnu::noinline]] int poll_remote(int most, Sink& sink) {
    bool any = false;
    const int messages = remote_->poll(most, sink, any);
    remote_taken_.store(remote_taken_.load(std::memory_order_relaxed) + static_cast<std::uint32_t>(messages),
                        std::memory_order_relaxed);
    // A local sender rings the doorbell. For a network the thread that takes a message does: the watch may find nothing
    // any more, and the message may be for a blocked thread.
    if (any) {
      unarmed_ = 0;
      node_.own_bell().wake_blocked();
    }
    return messages;
  }

  node::Node& node_;
  shm::Endpoint shm_;
  std::unique_ptr<Remote> remote_;
  Watch* watch_;
  int unarmed_ = 0;  // failed attempts to arm it since the last arrival
  std::atomic<std::uint32_t> remote_taken_{0};
};

}  // namespace heddle::lln
