// What the state of a rank's VNI is to know of the rank.
#pragma once

#include "messaging/message/context.hpp"

namespace heddle {
struct Rank;
}

namespace heddle::engine {

// What HEDDLE_SPLIT_COPY and HEDDLE_STAGED_COPY ask for. False, and a sentence in error_detail(), if one is neither a number of bytes nor `never`.
bool read_copy_settings(message::CopySettings& settings);

// Of a VNI that is being made.
message::Context message_context(Rank& rank, int vni);

}  // namespace heddle::engine
