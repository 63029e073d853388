// The data that ranks exchange through their job's segment: addresses, in the card of each, and words that all agree
// on.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "launch/boot/job.hpp"

namespace heddle::boot {

// The entry of that VNI; empty: none yet. Any process may call it while the card's owner adds entries.
std::span<const std::byte> find_entry(const Card& card, int vni);
// One thread at a time. False: there is no room.
bool add_entry(Card& card, int vni, std::span<const std::byte> address);

// Appends a piece of another card, from `offset` on, to a copy of it. False: it does not continue the copy, or does not
// fit.
bool add_bytes(Card& copy, std::size_t offset, std::span<const std::byte> bytes);

// The value of a word, which is the first proposal.
inline std::uint64_t first_proposal(std::atomic<std::uint64_t>& word, std::uint64_t proposal) {
  std::uint64_t standing = 0;
  return word.compare_exchange_strong(standing, proposal, std::memory_order_relaxed) ? proposal : standing;
}

}  // namespace heddle::boot
