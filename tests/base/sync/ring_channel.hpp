// The memory of a slot ring in tests: what the two ends of slot_ring.hpp share.
#pragma once

#include <cstdint>

#include "base/platform/platform.hpp"

namespace heddle::test {

template <platform::Platform P, class Slot, std::uint32_t slots_in_ring>
struct RingChannel {
  typename P::template atomic<std::uint32_t> slots_consumed;
  typename P::template atomic<std::uint32_t> producer_waits;
  typename P::template atomic<std::uint32_t> claims_noted;
  std::uint32_t slot_count = slots_in_ring;
  Slot all[slots_in_ring];
  Slot* slots() { return all; }
};

// A slot for one message.
template <platform::Platform P, class Message>
struct MessageSlot {
  typename P::template atomic<std::uint32_t> sequence;
  typename P::template block<sizeof(Message)> payload;
};

}  // namespace heddle::test
