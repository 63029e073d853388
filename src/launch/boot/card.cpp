#include "launch/boot/card.hpp"

#include <cstring>

namespace heddle::boot {
namespace {

// Before the bytes of each; entries begin at multiples of its size.
struct EntryHead {
  std::int32_t vni;
  std::uint32_t bytes;
};

std::size_t whole(std::size_t bytes) { return (bytes + sizeof(EntryHead) - 1) / sizeof(EntryHead) * sizeof(EntryHead); }

}  // namespace

// A copy has come over a network, so its lengths are checked.
std::span<const std::byte> find_entry(const Card& card, int vni) {
  const std::size_t used = card.used.load(std::memory_order_acquire);
  for (std::size_t at = 0; at + sizeof(EntryHead) <= used;) {
    EntryHead head;
    std::memcpy(&head, card.entries + at, sizeof head);
    at += sizeof head;
    if (head.bytes > used - at) return {};
    if (head.vni == vni) return {card.entries + at, head.bytes};
    at += whole(head.bytes);
  }
  return {};
}

bool add_entry(Card& card, int vni, std::span<const std::byte> address) {
  const std::size_t at = card.used.load(std::memory_order_relaxed);
  const std::size_t end = at + sizeof(EntryHead) + whole(address.size());
  if (end > sizeof card.entries) return false;
  const EntryHead head{vni, static_cast<std::uint32_t>(address.size())};
  std::memcpy(card.entries + at, &head, sizeof head);
  std::memcpy(card.entries + at + sizeof head, address.data(), address.size());
  card.used.store(static_cast<std::uint32_t>(end), std::memory_order_release);
  return true;
}

bool add_bytes(Card& copy, std::size_t offset, std::span<const std::byte> bytes) {
  if (offset != copy.used.load(std::memory_order_relaxed) || bytes.size() > sizeof copy.entries - offset) return false;
  std::memcpy(copy.entries + offset, bytes.data(), bytes.size());
  copy.used.store(static_cast<std::uint32_t>(offset + bytes.size()), std::memory_order_release);
  return true;
}

}  // namespace heddle::boot
