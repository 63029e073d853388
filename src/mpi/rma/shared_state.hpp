// The shared state of a window's members: for each member a Gate, and the marks of posts. It lies in one block of the
// job's shared memory, made by member 0.
//
//     Gate[members]
//     std::atomic<std::uint8_t>[members][members]    [origin][target]: target's MPI_Win_post that origin has not seen
//
// An exposure epoch ends only when every origin has completed its access, so no two posts for the same pair are ever
// outstanding and a byte is enough.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

#include "base/node/heap.hpp"
#include "base/platform/native.hpp"
#include "base/sync/futex_lock.hpp"
#include "mpi/rma/epochs/target_lock.hpp"
#include "mpi/rma/region_table.hpp"

namespace heddle::rma {

// Short critical sections that wait for nothing, so they need no progress: held by threads of any process.
using SharedMutex = sync::FutexLock<platform::Native, platform::Scope::machine>;
using SharedGuard = sync::Guard<SharedMutex>;

// Memory that a member has attached to a dynamic window: a table of regions in a block of its own, which is replaced by
// a larger one when it is full.
struct Attachments {
  SharedMutex mutex;  // guards the table
  node::Offset table = node::nowhere;
  std::uint64_t count = 0;
  std::uint64_t capacity = 0;
};

// The shared state of one member. Words that different operations wait for lie on different lines.
struct alignas(64) Gate {
  TargetLock lock;                    // of MPI_Win_lock
  alignas(64) SharedMutex atomicity;  // held by the thread that changes the member's memory by an accumulate operation
  alignas(64) std::atomic<std::uint32_t> completed{0};  // calls of MPI_Win_complete that ended accesses to it
  Attachments attachments;                              // dynamic windows
};

class SharedState {
 public:
  using Posted = std::atomic<std::uint8_t>;

  static std::size_t bytes_for(int members) {
    const auto n = static_cast<std::size_t>(members);
    return n * sizeof(Gate) + n * n * sizeof(Posted);
  }
  // By one member, before the others access it.
  static void prepare(std::byte* base, int members) {
    const auto n = static_cast<std::size_t>(members);
    for (std::size_t i = 0; i < n; ++i) new (base + i * sizeof(Gate)) Gate;
    for (std::size_t i = 0; i < n * n; ++i) new (base + n * sizeof(Gate) + i * sizeof(Posted)) Posted{0};
  }

  SharedState(std::byte* base, int members) : base_(base), members_(members) {}

  Gate& gate(int member) const { return reinterpret_cast<Gate*>(base_)[member]; }
  Posted& posted(int origin, int target) const {
    std::byte* const matrix = base_ + static_cast<std::size_t>(members_) * sizeof(Gate);
    const auto row = static_cast<std::size_t>(origin) * static_cast<std::size_t>(members_);
    return reinterpret_cast<Posted*>(matrix)[row + static_cast<std::size_t>(target)];
  }

 private:
  std::byte* base_;
  int members_;
};

}  // namespace heddle::rma
