// The data about a rank that the state of a VNI needs.
#pragma once

#include "messaging/message/context.hpp"

namespace heddle {
struct Rank;
}

namespace heddle::engine {

// Reads HEDDLE_SPLIT_COPY and HEDDLE_STAGED_COPY. False: a value is neither a number of bytes nor `never`; error_detail() has a sentence.
bool read_copy_settings(message::CopySettings& settings);

// For the VNI of this index, which is being created.
message::Context message_context(Rank& rank, wake::Wake& wake, int vni);

}  // namespace heddle::engine
