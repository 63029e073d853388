// What collectives keep with a communicator.
#pragma once

namespace heddle::coll {

struct CommState;

// With the communicator's last reference.
void release(CommState* state);

}  // namespace heddle::coll
