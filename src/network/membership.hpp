// The ranks of a job, on a network that carries packets of any sender.
//
// Each packet begins with a word that only holders of the job's secret can compute: a keyed hash of its receiver. A
// packet without it is foreign and is dropped. This excludes senders that can reach a port. A reader of the job's wires
// can copy the word, and the data as well: such networks are to be encrypted below us.
//
// A rank seals the address that it publishes in the same way: libraries read addresses without knowing where they end.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "network/header.hpp"
#include "network/keyed_hash.hpp"
#include "network/network.hpp"

namespace heddle::lln {

// The start of every packet of a network between nodes.
struct PacketHead {
  std::uint64_t token;
  std::uint64_t context;
  std::int32_t source;
  std::int32_t tag;
  std::uint32_t sequence;
  std::uint32_t credit;
  std::int32_t sender;  // world rank
  MessageKind kind;     // `landed`: the packet announces a long message (Network::post_long), or is one
  std::uint8_t unused;
  std::uint16_t number;  // counts the packets from this end to that one, where a network keeps order
};
static_assert(sizeof(PacketHead) == 40, "and no holes, which would tell what was in memory before");

inline PacketHead head_of(const Envelope& envelope, std::uint64_t token, int sender, std::uint16_t number = 0) {
  const Header& header = envelope.header;
  return {token,           header.context, header.source, header.tag, envelope.sequence,
          envelope.credit, sender,         header.kind,   0,          number};
}
inline PacketHead head_of_long(std::uint64_t token, int sender, std::uint16_t number = 0) {
  return head_of({{MessageKind::landed, 0, 0, 0}, 0, 0}, token, sender, number);
}
// Its `sequence` is the number of packets that have come from the peer.
inline PacketHead head_of_disconnect(std::uint32_t arrived, std::uint64_t token, int sender, std::uint16_t number) {
  return head_of({{MessageKind::disconnect, 0, 0, 0}, arrived, 0}, token, sender, number);
}
inline Envelope envelope_of(const PacketHead& head) {
  return {{head.kind, head.source, head.tag, head.context}, head.sequence, head.credit};
}

// A rank, and its peers on other nodes.
struct Place {
  int rank;
  int ranks;
  int first_local;
  int local_ranks;
};

// For the end of one VNI.
class Membership {
 public:
  Membership(const Secret& secret, const Place& place, int vni)
      : secret_(secret), place_(place), vni_(vni), own_(token_of(place.rank)) {}

  // The first word of a packet to this peer.
  std::uint64_t token_of(int peer) const { return hash_of("packet", peer, vni_); }
  // The tag of a landing's name, which only ranks of the job can compute.
  std::uint64_t tag_of(std::uint64_t landing) const {
    return keyed_hash(secret_, "landing " + std::to_string(landing));
  }

  // Our address with its seal; and a peer's address, empty if its seal is broken.
  std::vector<std::byte> seal(std::span<const std::byte> address) const {
    const std::uint64_t hash = hash_of(text_of(address), place_.rank, vni_);
    std::vector<std::byte> card(sizeof hash + address.size());
    std::memcpy(card.data(), &hash, sizeof hash);
    std::copy(address.begin(), address.end(), card.begin() + sizeof hash);
    return card;
  }
  std::span<const std::byte> unseal(int peer, std::span<const std::byte> card) const {
    std::uint64_t hash;
    if (card.size() < sizeof hash) return {};
    std::memcpy(&hash, card.data(), sizeof hash);
    const std::span<const std::byte> address = card.subspan(sizeof hash);
    return hash == hash_of(text_of(address), peer, vni_) ? address : std::span<const std::byte>();
  }

  // True if the packet begins with our token. Otherwise it is foreign.
  bool admits(const PacketHead& head) const { return head.token == own_; }
  // True if a rank of another node could have sent this as a message, as part of a long one, or at its finalization.
  bool is_well_formed(const PacketHead& head) const {
    return head.kind >= MessageKind::eager && head.kind < MessageKind::left && is_of_other_node(head.sender);
  }
  bool makes_sense_of_long(const PacketHead& head) const {
    return head.kind == MessageKind::landed && is_of_other_node(head.sender);
  }
  bool is_valid_disconnect(const PacketHead& head) const {
    return head.kind == MessageKind::disconnect && is_of_other_node(head.sender);
  }

 private:
  bool is_of_other_node(int rank) const {
    const auto at = static_cast<unsigned>(rank), first = static_cast<unsigned>(place_.first_local);
    return at < static_cast<unsigned>(place_.ranks) && at - first >= static_cast<unsigned>(place_.local_ranks);
  }
  static std::string text_of(std::span<const std::byte> address) {
    return "card " + std::string(reinterpret_cast<const char*>(address.data()), address.size());
  }
  std::uint64_t hash_of(std::string_view what, int rank, int vni) const {
    return keyed_hash(secret_, std::string(what) + ' ' + std::to_string(rank) + ' ' + std::to_string(vni));
  }

  const Secret secret_;
  const Place place_;
  const int vni_;
  const std::uint64_t own_;
};

}  // namespace heddle::lln
