// Agreement of processes that may die during it, in memory that they share: every member contributes a value, and all
// survivors read the same contributions.
//
// Source: ours. Consensus among processes that crash is hard where crashes are not known (Fischer, Lynch, Paterson
// 1985), and easy with a detector of failures that is never wrong (Chandra, Toueg 1996). Here there is one (the
// launcher, which has reaped the dead), and memory that outlives its writers, so that no message can reach one member
// and not another.
//
//     contribute(me, n, value)     once has_room(n, gone) holds; n = 1, 2, 3, ... on every member alike
//     is_over(n, gone)             true if every member has contributed or is gone
//     has_contributed(m, n), read  then: true if m counts, and its value
//     conclude(me, n)              this member reads nothing of n any more
//
// A member counts in n if it has ever stored that it has contributed to n, which is one store. Uniformity: a member
// that finds m's store counts it. A member that finds m gone has acquired that from the detector, behind all that m
// ever did, and then reads m's word once more: so it finds the store if there has been one. Nothing else decides, so
// all see the same set, whichever member dies before, between or after the reads, the reader included. Termination:
// each living member contributes, each dead one is gone at last. Values stay: those of n are overwritten by those of n
// + Window, which no member contributes before all have concluded n or are gone; the gone read nothing.
//
// Memory orders: `contributed` releases the value and is acquired with it. `concluded` releases the reads of values,
// and is acquired by the member that overwrites them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/platform/platform.hpp"

namespace heddle::sync {

// The slot of a member in shared memory, all zero at first.
template <platform::Platform P, std::size_t Bytes, std::uint32_t Window>
struct AgreementSlot {
  static constexpr std::size_t value_bytes = Bytes;
  static constexpr std::uint32_t window = Window;

  typename P::template atomic<std::uint32_t> contributed;  // to how many
  typename P::template atomic<std::uint32_t> concluded;    // how many
  typename P::template block<Bytes> values[Window];
};

// Slots has size() and operator[](member), an AgreementSlot.
template <platform::Platform P, class Slots>
class Agreement {
  using order = platform::order;

 public:
  explicit Agreement(const Slots& slots) : slots_(slots) {}

  // True if the slot of a value is free for number n.
  template <class Gone>
  bool has_room(std::uint32_t n, Gone&& gone) const {
    for (std::uint32_t m = 0; m < slots_.size(); ++m)
      if (n - slots_[m].concluded.load(order::acquire) > window(m) && !gone(m)) return false;
    return true;
  }
  // One after the other: n - 1 has been contributed to.
  void contribute(std::uint32_t me, std::uint32_t n, const void* value, std::size_t bytes) {
    auto& mine = slots_[me];
    mine.values[n % window(me)].write(value, bytes);
    mine.contributed.store(n, order::release);
  }

  template <class Gone>
  bool is_over(std::uint32_t n, Gone&& gone) const {
    for (std::uint32_t m = 0; m < slots_.size(); ++m)
      if (!has_contributed(m, n) && !gone(m)) return false;
    return true;
  }
  // When it is over: true if m counts. A contribution that was absent before m was gone never comes.
  bool has_contributed(std::uint32_t m, std::uint32_t n) const {
    return static_cast<std::int32_t>(slots_[m].contributed.load(order::acquire) - n) >= 0;
  }
  void read(std::uint32_t m, std::uint32_t n, void* value, std::size_t bytes) const {
    slots_[m].values[n % window(m)].read(value, bytes);
  }

  // One after the other.
  void conclude(std::uint32_t me, std::uint32_t n) { slots_[me].concluded.store(n, order::release); }
  std::uint32_t concluded(std::uint32_t me) const { return slots_[me].concluded.load(order::relaxed); }

 private:
  std::uint32_t window(std::uint32_t m) const { return slots_[m].window; }

  Slots slots_;
};

}  // namespace heddle::sync
