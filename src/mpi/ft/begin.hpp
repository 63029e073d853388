// Of a rank whose job goes on without ranks that fail.
#pragma once

namespace heddle {
struct Rank;
}

namespace heddle::ft {

// Once, when the rank has its engine; throws std::bad_alloc.
void begin(Rank& rank);

}  // namespace heddle::ft
