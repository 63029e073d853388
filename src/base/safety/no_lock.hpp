// The empty lock: shows the cost of MPI_THREAD_SINGLE. With it the library provides MPI_THREAD_SERIALIZED; it is there
// for measurements.
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
