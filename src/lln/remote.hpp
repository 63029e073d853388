// What stands between the messages of a VNI and the network that leads to other nodes: they are in order, and those that are sent unasked
// have credit.
//
// Messages that are matched, or name one that may be, have a number, counted by pair of ranks; what comes too early is kept until its
// turn, where a network promises no order. Answers and the data of long messages name what they belong to and need none. Credit
// (credits.hpp) travels with whatever goes its way.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <map>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

#include "instruments/counters.hpp"
#include "instruments/ticks.hpp"
#include "lln/credits.hpp"
#include "lln/network.hpp"
#include "lln/networks.hpp"
#include "lln/pace.hpp"
#include "lln/packet.hpp"

namespace heddle::lln {

class Remote {
 public:
  // `counters` are those of the VNI; they are not used before the first message.
  Remote(Networks::End network, instruments::Counters& counters) : network_(std::move(network)), counters_(counters) {}

  static constexpr int any_rail = -1;

  Network& network() const { return *network_; }
  // Any thread, as the network's.
  bool arrived() const { return early_is_due_.load(std::memory_order_relaxed) || network_->arrived(); }
  bool any_under_way() const { return network_->any_under_way(); }

  // As Network::post, and `no_credit`; over one rail or any.
  Posted post(int peer, const Header& header, std::size_t bytes, Network::Fill fill, int rail = any_rail) {
    Peer& there = peers_[peer];
    const bool on_credit = needs_credit(header.kind);
    if (on_credit && !there.credits.suffice_for(bytes)) return Posted::no_credit;
    const Posted posted = post_to(peer, there, header, bytes, fill, rail);
    if (posted == Posted::done && on_credit) there.credits.consume(bytes);
    return posted;
  }

  // An empty packet to this peer, for post_packet(). Throws std::bad_alloc, the first time for a peer.
  Packet& begin_packet(int peer) {
    packet_.begin(network_->traits().eager, peers_[peer].credits);
    return packet_;
  }
  const Packet& packet() const { return packet_; }
  // As post, of what that packet holds, more than one message: write(i, std::byte*) writes the payload of message i.
  template <class Write>
  Posted post_packet(int peer, Write&& write) {
    Peer& there = peers_[peer];
    const auto fill = [&](std::byte* to) { packet_.write(to, write); };
    const Posted posted =
        post_to(peer, there, Header{MessageKind::several, 0, 0, 0}, packet_.bytes(), Network::Fill(fill), any_rail);
    if (posted == Posted::done) there.credits.replace_consumed(packet_.credits());
    return posted;
  }
  // From so many bytes on a message does not wait for others: a packet has no room for two.
  std::size_t alone_from() const { return network_->traits().eager / 2; }
  // Whether something was posted to this peer just now, so that more had better go together.
  bool is_busy(int peer) const {
    const auto there = peers_.find(peer);
    return there != peers_.end() && there->second.pace.is_busy(instruments::ticks());
  }
  // The same of a message of the program's, which may be the first of a burst.
  bool more_follow(int peer) const {
    const auto there = peers_.find(peer);
    return there != peers_.end() && there->second.pace.more_follow(instruments::ticks());
  }

  // A message that needed credit has been received and dropped. If it is time to say so and the network is busy, the next one says it.
  void return_credit(int sender, std::size_t bytes) {
    Peer& there = peers_[sender];
    there.credits.free(bytes);
    if (there.credits.is_due()) (void)post(sender, Header{MessageKind::credit, 0, 0, 0}, 0, [](std::byte*) {});
  }

  // A message of so many bytes that was announced only for want of credit has met its receive at once. The sender gets more with the answer,
  // and enough for such messages.
  void widen_credit(int sender, std::size_t bytes) {
    Credits& credits = peers_[sender].credits;
    do {
      if (!credits.can_widen() || credits.width() > room_to_widen_) return;
      room_to_widen_ -= credits.width();
      credits.widen();
    } while (credits.is_narrow_for(bytes));
  }

  // As Network::poll, to sink(sender, header, payload, bytes), which throws std::bad_alloc where there is no memory for a message. What no
  // rank of the job would say is handed over as of kind `several`, which no message is that has been taken apart. Whether
  // anything came, if only credit, is added to `any`.
  template <class Sink>
  int poll(int most, Sink&& sink, bool& any) {
    int handed = 0;
    bool refused = false;
    const int came =
        network_->poll(most, [&](int sender, const Envelope& envelope, const std::byte* payload, std::size_t bytes) {
          try {
            handed += take(sender, envelope, payload, bytes, sink);
            return true;
          } catch (const std::bad_alloc&) {
            refused = true;
            return false;
          }
        });
    any |= came != 0;
    if (refused) throw std::bad_alloc();
    if (early_ != 0) handed += hand_over_early(sink);
    return handed;
  }

 private:
  struct Early {
    Header header;
    std::vector<std::byte> payload;
  };
  struct Peer {
    std::uint32_t posted = 0;
    std::uint32_t taken = 0;
    std::uint32_t parts = 0;  // of a packet whose turn it is: those that have been handed over
    bool connected = false;   // something was posted to it
    Credits credits;
    Pace pace;
    std::map<std::uint32_t, Early> early;  // by number
  };

  static bool has_order(MessageKind kind) {
    return kind <= MessageKind::rts || kind == MessageKind::retract || kind == MessageKind::several;
  }

  Posted post_to(int peer, Peer& there, const Header& header, std::size_t bytes, Network::Fill fill, int rail) {
    const bool ordered = has_order(header.kind);
    const std::uint64_t begin = instruments::ticks();
    const Envelope envelope{header, ordered ? there.posted : 0, there.credits.owed()};
    const Posted posted = rail == any_rail ? network_->post(peer, envelope, bytes, fill)
                                           : network_->post_over(rail, peer, envelope, bytes, fill);
    if (posted != Posted::done) return posted;
    const bool is_behind = there.pace.is_busy(begin);
    there.pace.posted(begin, instruments::ticks(), cost_);
    if (ordered) there.pace.carried(header.kind == MessageKind::several);
    if (instruments::Cell* cell = counters_.held()) [[unlikely]] {
      cell->add(instruments::Count::packets);
      if (is_behind && header.kind <= MessageKind::rts && bytes < alone_from()) cell->add(instruments::Count::alone);
      cell->add(instruments::Count::bytes_away, bytes);
      cell->add(instruments::bytes_by_rail(network_->last_rail()), bytes);
      if (!there.connected) cell->add(instruments::Count::connections);
    }
    there.connected = true;
    there.credits.settle();
    if (ordered) ++there.posted;
    return posted;
  }

  // How many messages have been handed over: none, if it is early or brings nothing but credit.
  template <class Sink>
  int take(int sender, const Envelope& envelope, const std::byte* payload, std::size_t bytes, Sink& sink) {
    const Header& header = envelope.header;
    Peer& there = peers_[sender];
    int handed = 0;
    if (has_order(header.kind) && envelope.sequence != there.taken) {
      // Where nothing comes early, something is missing that would be waited for.
      if (network_->traits().ordered || !keep(there, envelope, payload, bytes))
        handed = hand_over_nonsense(sender, payload, bytes, sink);
    } else if (header.kind != MessageKind::credit) {
      handed = hand_over(sender, there, header, payload, bytes, sink);
      if (has_order(header.kind)) ++there.taken;
    }
    // Last: what the sink refuses comes again.
    if (!there.credits.replenish(envelope.credit)) handed += hand_over_nonsense(sender, payload, bytes, sink);
    return handed;
  }
  // How many messages. What a packet has handed over before the sink threw is not handed over again.
  template <class Sink>
  static int hand_over(int sender, Peer& there, const Header& header, const std::byte* payload, std::size_t bytes,
                       Sink& sink) {
    if (header.kind != MessageKind::several) {
      sink(sender, header, payload, bytes);
      return 1;
    }
    const auto each = [&](const Header& one, const std::byte* data, std::size_t n) {
      if (one.kind >= MessageKind::credit) return (void)hand_over_nonsense(sender, data, n, sink);
      sink(sender, one, data, n);
    };
    if (!Packet::read(payload, bytes, there.parts, each)) {
      (void)hand_over_nonsense(sender, payload, bytes, sink);
      ++there.parts;
    }
    return static_cast<int>(std::exchange(there.parts, 0));
  }
  template <class Sink>
  static int hand_over_nonsense(int sender, const std::byte* payload, std::size_t bytes, Sink& sink) {
    sink(sender, Header{MessageKind::several, 0, 0, 0}, payload, bytes);
    return 1;
  }
  // False: its number has been before.
  bool keep(Peer& there, const Envelope& envelope, const std::byte* payload, std::size_t bytes) {
    if (static_cast<std::int32_t>(envelope.sequence - there.taken) < 0) return false;
    const bool is_new =
        there.early.try_emplace(envelope.sequence, Early{envelope.header, {payload, payload + bytes}}).second;
    early_ += is_new ? 1 : 0;
    return is_new;
  }
  // Those whose turn has come. One that finds no memory keeps its place, and until it has gone something has arrived: the network knows
  // nothing of it any more.
  template <class Sink>
  int hand_over_early(Sink&& sink) {
    int handed = 0;
    early_is_due_.store(true, std::memory_order_relaxed);
    for (auto& [sender, there] : peers_) {
      for (auto next = there.early.find(there.taken); next != there.early.end(); next = there.early.find(there.taken)) {
        const Early& early = next->second;
        handed += hand_over(sender, there, early.header, early.payload.data(), early.payload.size(), sink);
        there.early.erase(next);
        --early_;
        ++there.taken;
      }
    }
    early_is_due_.store(false, std::memory_order_relaxed);
    return handed;
  }

  Networks::End network_;
  instruments::Counters& counters_;
  std::unordered_map<int, Peer> peers_;  // those that were talked to
  std::size_t early_ = 0;
  std::atomic<bool> early_is_due_{false};
  Packet packet_;
  PostCost cost_;
  std::size_t room_to_widen_ = std::size_t{16} << 20;  // bytes by which all windows together may become wider
};

}  // namespace heddle::lln
