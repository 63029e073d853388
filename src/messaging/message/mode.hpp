// Send modes (MPI 5.0, section 3.4).
#pragma once

#include <cstdint>

namespace heddle::message {

// A buffered send is a standard send of a copy (messaging/p2p/buffer.hpp); no thread waits for its completion.
enum class Mode : std::uint32_t { standard, synchronous, ready, buffered };

}  // namespace heddle::message
