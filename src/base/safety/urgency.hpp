// How much a thread that wants to make progress wants the VNI.
#pragma once

#include <cstdint>

namespace heddle::safety {

enum class Urgency : std::uint8_t {
  attempt,  // only if it is free: whoever has it is making the progress
  low,      // waits, behind every active thread where the lock knows classes
  high,     // waits like an active thread
};

}  // namespace heddle::safety
