#include "coll/state.hpp"

namespace heddle::coll {

struct CommState {};

void release(CommState* state) { delete state; }

}  // namespace heddle::coll
