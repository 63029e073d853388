// The lock that is none: what MPI_THREAD_SINGLE would cost. With it the library provides MPI_THREAD_SERIALIZED; it is
// there to be measured against.
#pragma once

#include "base/sync/lock.hpp"

namespace heddle::safety {

struct NoLock {
  using node = sync::NoNode;
  void lock(node&) {}
  bool try_lock(node&) { return true; }
  void unlock(node&) {}
};

}  // namespace heddle::safety
