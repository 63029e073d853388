#include "coll/internal.hpp"
#include "object/comm.hpp"

namespace heddle::coll {

struct CommState {};

void release_state(Comm& comm) {
  delete comm.coll;
  comm.coll = nullptr;
}

}  // namespace heddle::coll
