#include "boot/directory.hpp"

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

std::span<const std::byte> Directory::find(int peer, int vni) const {
  const Card& card = cards(job_.header)[peer];
  const std::uint32_t used = card.used.load(std::memory_order_acquire);
  for (std::size_t at = 0; at < used;) {
    EntryHead head;
    std::memcpy(&head, card.entries + at, sizeof head);
    at += sizeof head;
    if (head.vni == vni) return {card.entries + at, head.bytes};
    at += whole(head.bytes);
  }
  return {};
}

bool Directory::publish(int vni, std::span<const std::byte> address) {
  const std::lock_guard guard(mutex_);
  Card& card = cards(job_.header)[job_.rank];
  const std::size_t at = card.used.load(std::memory_order_relaxed);
  const std::size_t end = at + sizeof(EntryHead) + whole(address.size());
  if (end > sizeof card.entries) return false;
  const EntryHead head{vni, static_cast<std::uint32_t>(address.size())};
  std::memcpy(card.entries + at, &head, sizeof head);
  std::memcpy(card.entries + at + sizeof head, address.data(), address.size());
  card.used.store(static_cast<std::uint32_t>(end), std::memory_order_release);
  return true;
}

}  // namespace heddle::boot
