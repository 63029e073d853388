// The layer between the messages of a VNI and the network to other nodes: it keeps messages in order, and gives eager
// ones credit.
//
// Messages that are matched, or that name such a message, have a number, counted by pair of ranks; where a network
// promises no order, early messages are stored until their turn. Answers and the data of long messages name their
// request and need no number. Credit (credits.hpp) travels with any message in its direction.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <map>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/instruments/cells.hpp"
#include "base/instruments/counters.hpp"
#include "base/instruments/ticks.hpp"
#include "network/credits.hpp"
#include "network/network.hpp"
#include "network/networks.hpp"
#include "network/pace.hpp"
#include "network/packet.hpp"

namespace heddle::lln {

class Remote {
 public:
  // `counters` are those of the VNI; they are not used before the first message. `bound`: bytes of unexpected messages
  // of one peer.
  Remote(instruments::Counters& counters, std::uint64_t bound) : counters_(counters), bound_(bound) {}
  // Any thread, as the network's; or credit is due that the network had no room for, and the post is to be repeated.
  void open(Networks::End network) { network_ = std::move(network); }

  static constexpr int any_rail = -1;

  Network& network() const { return *network_; }
  // Any thread, as the network's; or credit is to be returned that the network had no room for, which is to be tried again.
  bool arrived() const {
    return early_is_due_.load(std::memory_order_relaxed) || any_unreturned() || network_->arrived();
  }
  bool any_under_way() const { return network_->any_under_way(); }

  // As Network::post; over one rail or any. A message without credit is `busy` while credit is coming, else
  // `no_credit`.
  Posted post(int peer, const Header& header, std::size_t bytes, Network::Fill fill, int rail = any_rail) {
    Peer& there = peers_[peer];
    const bool on_credit = needs_credit(header.kind);
    if (on_credit && !there.credits.suffice_for(bytes))
      return there.credits.are_coming_for(bytes) ? Posted::busy : Posted::no_credit;
    const Posted posted = post_to(peer, there, header, bytes, fill, rail);
    if (posted == Posted::done && on_credit) there.credits.consume(bytes);
    if (posted == Posted::done && is_matched(header.kind))
      instruments::count_held(counters_, instruments::Count::sent_away);
    return posted;
  }

  // An empty packet to this peer, for post_packet(). Throws std::bad_alloc, the first time for a peer.
  Packet& begin_packet(int peer) {
    packet_.begin(network_->traits().eager, peers_[peer].credits);
    return packet_;
  }
  const Packet& packet() const { return packet_; }
  // As post(), for the messages of that packet, more than one: write(i, std::byte*) writes the payload of message i.
  template <class Write>
  Posted post_packet(int peer, Write&& write) {
    Peer& there = peers_[peer];
    const auto fill = [&](std::byte* to) { packet_.write(to, write); };
    const Posted posted =
        post_to(peer, there, Header{MessageKind::several, 0, 0, 0}, packet_.bytes(), Network::Fill(fill), any_rail);
    if (posted != Posted::done) return posted;
    there.credits.replace_consumed(packet_.credits());
    for (std::size_t i = 0; i < packet_.size(); ++i)
      if (is_matched(packet_[i].header.kind)) instruments::count_held(counters_, instruments::Count::sent_away);
    return posted;
  }
  // Messages of so many bytes and more are not delayed for others: a packet has no room for two.
  std::size_t alone_from() const { return network_->traits().eager / 2; }
  // True if a message was posted to this peer just now, so that further ones should share a packet.
  bool is_busy(int peer) const {
    const auto there = peers_.find(peer);
    return there != peers_.end() && there->second.pace.is_busy(instruments::ticks());
  }
  // The same for a message of the program's, which may be the first of a burst.
  bool more_follow(int peer) const {
    const auto there = peers_.find(peer);
    return there != peers_.end() && there->second.pace.more_follow(instruments::ticks());
  }

  // True if an eager message of so many bytes to this peer waits for credit. It needs no room of the network meanwhile:
  // the message with the credit wakes a blocked thread.
  bool waits_for_credit(int peer, std::size_t bytes) const {
    const auto there = peers_.find(peer);
    return there != peers_.end() && !there->second.credits.suffice_for(bytes) &&
           there->second.credits.are_coming_for(bytes);
  }

  // A message that needed credit has matched on arrival, or has been stored, or is stored no longer.
  void note_matched(int sender, std::size_t bytes) {
    Peer& there = peers_[sender];
    there.credits.free(bytes);
    return_credit(sender, there, false);
  }
  void note_stored(int sender, std::size_t bytes) {
    Peer& there = peers_[sender];
    return_credit(sender, there, there.credits.store(bytes, bound_));
  }
  void note_dropped(int sender, std::size_t bytes) {
    Peer& there = peers_[sender];
    return_credit(sender, there, there.credits.drop(bytes, bound_));
  }
  // Before a thread blocks: asks for room at the peers that are to get credit for which the network had no room.
  void want_room_for_credit() {
    if (!any_unreturned()) return;
    for (const auto& [peer, there] : peers_)
      if (there.is_unreturned) network_->want_room(peer);
  }
  // This peer has failed.
  void give_up(int peer) {
    network_->give_up(peer);
    Peer& there = peers_[peer];
    there.is_gone = true;
    set_unreturned(there, false);
  }

  // A message of so many bytes that came as an RTS only for lack of credit has matched at once. The sender gets more
  // credit with the answer, enough for such messages.
  void widen_credit(int sender, std::size_t bytes) {
    Credits& credits = peers_[sender].credits;
    do {
      if (!widen_once(credits)) return;
    } while (credits.is_narrow_for(bytes));
  }

  // As Network::poll, to sink(sender, header, payload, bytes), which throws std::bad_alloc where there is no memory for
  // a message. A malformed message is handed over with kind `several`, which no valid message has after unpacking. If
  // anything came, if only credit, `any` is incremented.
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
    if (any_unreturned()) return_rest();
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
    std::uint32_t parts = 0;     // of the packet whose turn it is: the messages handed over
    bool connected = false;      // a message was posted to it
    bool is_unreturned = false;  // it is to get a credit message
    bool is_gone = false;        // it has failed
    Credits credits;
    Pace pace;
    std::map<std::uint32_t, Early> early;  // by number
  };

  // The messages of the program.
  static bool is_matched(MessageKind kind) { return kind <= MessageKind::rts; }
  static bool has_order(MessageKind kind) {
    return is_matched(kind) || kind == MessageKind::retract || kind == MessageKind::several;
  }

  // Returns credit by an empty message, if enough is due, or the receiver has closed or opened. If the network is busy,
  // the next poll tries again. A sender that does not run ahead gets a wider window.
  void return_credit(int sender, Peer& there, bool has_changed) {
    Credits& credits = there.credits;
    if ((!has_changed && !credits.is_due()) || there.is_gone) return;
    if (!there.is_unreturned && credits.is_due() && credits.stored() == 0) (void)widen_once(credits);
    const Header header{MessageKind::credit, 0, credits.state(), 0};
    set_unreturned(there, post_to(
                              sender, there, header, 0, [](std::byte*) {}, any_rail) != Posted::done);
  }
  void return_rest() {
    for (auto& [sender, there] : peers_)
      if (there.is_unreturned) return_credit(sender, there, true);
  }
  void set_unreturned(Peer& there, bool is_unreturned) {
    const int change = static_cast<int>(is_unreturned) - static_cast<int>(there.is_unreturned);
    unreturned_.store(unreturned_.load(std::memory_order_relaxed) + change, std::memory_order_relaxed);
    there.is_unreturned = is_unreturned;
  }
  bool any_unreturned() const { return unreturned_.load(std::memory_order_relaxed) != 0; }
  bool widen_once(Credits& credits) {
    if (!credits.can_widen() || credits.width() > room_to_widen_) return false;
    room_to_widen_ -= credits.width();
    credits.widen();
    return true;
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
    there.credits.clear_owed();
    if (ordered) ++there.posted;
    return posted;
  }

  // Returns the number of messages handed over: none, if the message is early.
  template <class Sink>
  int take(int sender, const Envelope& envelope, const std::byte* payload, std::size_t bytes, Sink& sink) {
    const Header& header = envelope.header;
    Peer& there = peers_[sender];
    int handed = 0;
    if (has_order(header.kind) && envelope.sequence != there.taken) {
      // In an ordered network no message is early: one is missing, and its receiver would wait for it.
      if (network_->traits().ordered || !keep(there, envelope, payload, bytes))
        handed = hand_over_nonsense(sender, payload, bytes, sink);
    } else if (header.kind != MessageKind::credit) {
      handed = hand_over(sender, there, header, payload, bytes, sink);
      if (has_order(header.kind)) ++there.taken;
    }
    // Last: a message that the sink refuses is delivered again. Credit is handed over, too: messages in the outbox wait
    // for it.
    if (header.kind == MessageKind::credit) {
      there.credits.hear(header.tag);
      sink(sender, header, payload, bytes);
      ++handed;
    }
    if (!there.credits.replenish(envelope.credit)) handed += hand_over_nonsense(sender, payload, bytes, sink);
    return handed;
  }
  // Returns the number of messages. Messages of a packet that were handed over before the sink threw are not repeated.
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
  // False: its number has been used before.
  bool keep(Peer& there, const Envelope& envelope, const std::byte* payload, std::size_t bytes) {
    if (static_cast<std::int32_t>(envelope.sequence - there.taken) < 0) return false;
    const bool is_new =
        there.early.try_emplace(envelope.sequence, Early{envelope.header, {payload, payload + bytes}}).second;
    early_ += is_new ? 1 : 0;
    return is_new;
  }
  // Hands over the messages whose turn has come. A message without memory keeps its place, and arrived() holds until it
  // is gone: the network does not know it any more.
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
  std::unordered_map<int, Peer> peers_;  // those with traffic
  std::size_t early_ = 0;
  std::atomic<bool> early_is_due_{false};
  Packet packet_;
  PostCost cost_;
  const std::uint64_t bound_;
  std::atomic<int> unreturned_{0};  // peers that are to get a message with credit; any thread reads it
  std::size_t room_to_widen_ = std::size_t{16} << 20;  // bytes by which all windows together may become wider
};

}  // namespace heddle::lln
