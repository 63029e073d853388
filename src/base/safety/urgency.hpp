// The urgency with which a thread that wants to make progress needs the VNI.
#pragma once

#include <cstdint>

namespace heddle::safety {

enum class Urgency : std::uint8_t {
  attempt,  // only if it is free: its holder is making the progress
  low,      // waits, behind every active thread where the lock knows classes
  high,     // waits like an active thread
};

}  // namespace heddle::safety
