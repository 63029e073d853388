// The open epochs of a window in this process (MPI 5.0, section 12.5), which decide the calls that are allowed.
//
// An access epoch is one of: between fences, from MPI_Win_start to MPI_Win_complete, by locks on single targets, by
// MPI_Win_lock_all; at most one sort at a time. An exposure epoch, from MPI_Win_post to MPI_Win_wait, stands beside it.
// A fence that is followed by no operation opens nothing, so another sort of epoch may follow it.
//
// Locks belong to threads: two threads of a process that lock the same target exclude each other as two processes
// would, and only a thread that locks a target which it has locked already is in error. Any thread may unlock.
//
// Operations call may_access and change nothing but one word, so communicating threads do not contend here.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/threads/mutex.hpp"
#include "mpi/rma/epochs/target_lock.hpp"
#include "objects/object/error.hpp"

namespace heddle::rma {

// A requested lock on a target.
struct Hold {
  int target;
  LockType type;
  bool checked;           // false: MPI_MODE_NOCHECK, the target's word was not touched
  std::uintptr_t thread;  // that locked
  bool held;              // false: still waiting
};

class Epochs {
 public:
  explicit Epochs(int members);

  // ---- Operations

  // Checks for an access epoch for this target.
  Error may_access(int target);
  // ... by a lock, as request-based operations and flushes require.
  Error must_be_locked(int target) const;
  Error must_be_locked() const;

  // ---- Fence

  Error fence(bool succeeded);  // `succeeded` by operations: not MPI_MODE_NOSUCCEED

  // ---- Start, complete; post, wait. The members are ranks of the window's group.

  Error start(std::vector<int> targets);
  Error complete(std::vector<int>& targets);
  Error post(std::size_t origins);
  Error must_be_exposed() const;
  std::uint32_t origins() const { return origins_; }
  void wait() { exposed_.store(false, std::memory_order_release); }

  // ---- Locks. begin_ is followed by the waiting and then by end_.

  Error begin_lock(const Hold& hold);
  void end_lock(const Hold& hold);
  Error unlock(int target, Hold& released);
  Error begin_lock_all();
  void end_lock_all(bool checked);
  Error unlock_all(bool& checked);

  // Checks that the window can be freed.
  Error must_be_closed() const;

 private:
  enum class Access : std::uint8_t { none, fence, fence_used, start, lock, locking_all, lock_all };
  static const char* describe(Access access);
  Error begin(Access access, const char* what);
  Error not_open(int target) const;

  threads::Mutex mutex_;  // guards changes
  std::atomic<Access> access_{Access::none};
  std::unique_ptr<std::atomic<std::uint32_t>[]> open_;  // by target: started, or the number of locks held
  std::vector<int> targets_;                            // of start
  std::vector<Hold> holds_;
  bool checked_ = true;  // lock_all
  std::atomic<bool> exposed_{false};
  std::uint32_t origins_ = 0;  // origins that access an exposed window
};

}  // namespace heddle::rma
