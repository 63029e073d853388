// This member's attached memory of a dynamic window that is reached by messages: only its own threads read it.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <mutex>
#include <vector>

#include "base/threads/mutex.hpp"
#include "mpi/rma/region_table.hpp"
#include "objects/object/error.hpp"

namespace heddle::rma::reach {

class AttachedMemory {
 public:
  Error attach(const void* base, MPI_Aint size);
  Error detach(const void* base);
  bool covers(std::int64_t first, std::int64_t end) {
    const std::lock_guard guard(mutex_);
    return cover(table_, static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(end));
  }

 private:
  threads::Mutex mutex_;
  std::vector<Region> table_;
};

}  // namespace heddle::rma::reach
