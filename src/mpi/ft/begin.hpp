// For a rank whose job survives failed ranks.
#pragma once

namespace heddle {
struct Rank;
}

namespace heddle::ft {

// Once, when the rank has its engine; throws std::bad_alloc.
void begin(Rank& rank);

}  // namespace heddle::ft
