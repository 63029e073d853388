#include "mpi/rma/epochs/epochs.hpp"

#include <algorithm>
#include <utility>

namespace heddle::rma {

Epochs::Epochs(int members) : open_(new std::atomic<std::uint32_t>[static_cast<std::size_t>(members)]()) {}

const char* Epochs::describe(Access access) {
  switch (access) {
    case Access::none:
    case Access::fence:
      return "no epoch";
    case Access::fence_used:
      return "an epoch between fences with operations that no fence has completed";
    case Access::start:
      return "an epoch of MPI_Win_start";
    case Access::lock:
      return "an epoch of MPI_Win_lock";
    case Access::locking_all:
    case Access::lock_all:
      return "an epoch of MPI_Win_lock_all";
  }
  return "";
}

// ---- operations

Error Epochs::may_access(int target) {
  switch (access_.load(std::memory_order_acquire)) {
    case Access::fence: {
      auto expected = Access::fence;
      access_.compare_exchange_strong(expected, Access::fence_used, std::memory_order_acq_rel);
      return success;
    }
    case Access::fence_used:
    case Access::lock_all:
      return success;
    case Access::start:
    case Access::lock:
      if (open_[target].load(std::memory_order_relaxed) != 0) return success;
      break;
    case Access::none:
    case Access::locking_all:
      break;
  }
  return not_open(target);
}

Error Epochs::not_open(int target) const {
  return fail(MPI_ERR_RMA_SYNC, "target_rank = %d is outside of every access epoch: the window is in %s", target,
              describe(access_.load(std::memory_order_relaxed)));
}

Error Epochs::must_be_locked(int target) const {
  const Access access = access_.load(std::memory_order_acquire);
  if (access == Access::lock_all) return success;
  if (access == Access::lock && open_[target].load(std::memory_order_relaxed) != 0) return success;
  return fail(MPI_ERR_RMA_SYNC, "rank %d is not locked: the window is in %s", target, describe(access));
}

Error Epochs::must_be_locked() const {
  const Access access = access_.load(std::memory_order_acquire);
  if (access == Access::lock_all || access == Access::lock) return success;
  return fail(MPI_ERR_RMA_SYNC, "nothing is locked: the window is in %s", describe(access));
}

// ---- epochs

// An epoch begins: none that it would overlap may be open.
Error Epochs::begin(Access access, const char* what) {
  const Access now = access_.load(std::memory_order_relaxed);
  if (now != Access::none && now != Access::fence)
    return fail(MPI_ERR_RMA_SYNC, "%s while the window is in %s", what, describe(now));
  access_.store(access, std::memory_order_release);
  return success;
}

Error Epochs::fence(bool succeeded) {
  std::lock_guard guard(mutex_);
  if (exposed_.load(std::memory_order_relaxed))
    return fail(MPI_ERR_RMA_SYNC, "a fence while the window is exposed by MPI_Win_post");
  const Access now = access_.load(std::memory_order_relaxed);
  if (now != Access::fence_used && now != Access::none && now != Access::fence)
    return fail(MPI_ERR_RMA_SYNC, "a fence while the window is in %s", describe(now));
  access_.store(succeeded ? Access::fence : Access::none, std::memory_order_release);
  return success;
}

Error Epochs::start(std::vector<int> targets) {
  std::lock_guard guard(mutex_);
  if (Error e = begin(Access::start, "MPI_Win_start")) return e;
  targets_ = std::move(targets);
  for (int target : targets_) open_[target].store(1, std::memory_order_relaxed);
  return success;
}

Error Epochs::complete(std::vector<int>& targets) {
  std::lock_guard guard(mutex_);
  if (access_.load(std::memory_order_relaxed) != Access::start)
    return fail(MPI_ERR_RMA_SYNC, "no MPI_Win_start to complete");
  for (int target : targets_) open_[target].store(0, std::memory_order_relaxed);
  targets = std::move(targets_);
  targets_.clear();
  access_.store(Access::none, std::memory_order_release);
  return success;
}

Error Epochs::post(std::size_t origins) {
  std::lock_guard guard(mutex_);
  if (exposed_.load(std::memory_order_relaxed))
    return fail(MPI_ERR_RMA_SYNC, "the window is exposed already: MPI_Win_wait has to come first");
  if (access_.load(std::memory_order_relaxed) == Access::fence_used)
    return fail(MPI_ERR_RMA_SYNC, "MPI_Win_post while the window is in %s", describe(Access::fence_used));
  origins_ = static_cast<std::uint32_t>(origins);
  exposed_.store(true, std::memory_order_release);
  return success;
}

Error Epochs::must_be_exposed() const {
  if (exposed_.load(std::memory_order_acquire)) return success;
  return fail(MPI_ERR_RMA_SYNC, "no MPI_Win_post to wait for");
}

// ---- locks

Error Epochs::begin_lock(const Hold& hold) {
  std::lock_guard guard(mutex_);
  for (const Hold& other : holds_) {
    if (other.target == hold.target && other.thread == hold.thread)
      return fail(MPI_ERR_RMA_SYNC, "rank %d is already locked by this thread", hold.target);
  }
  if (access_.load(std::memory_order_relaxed) != Access::lock) {
    if (Error e = begin(Access::lock, "MPI_Win_lock")) return e;
  }
  holds_.push_back(hold);
  return success;
}

void Epochs::end_lock(const Hold& hold) {
  std::lock_guard guard(mutex_);
  for (Hold& mine : holds_) {
    if (mine.target == hold.target && mine.thread == hold.thread) mine.held = true;
  }
  open_[hold.target].fetch_add(1, std::memory_order_relaxed);
}

// The lock of this thread, or if it has none that of another one.
Error Epochs::unlock(int target, Hold& released) {
  std::lock_guard guard(mutex_);
  const auto is_wanted = [&](const Hold& hold) { return hold.target == target && hold.held; };
  auto found = std::find_if(holds_.begin(), holds_.end(),
                            [&](const Hold& hold) { return is_wanted(hold) && hold.thread == released.thread; });
  if (found == holds_.end()) found = std::find_if(holds_.begin(), holds_.end(), is_wanted);
  if (found == holds_.end()) return fail(MPI_ERR_RMA_SYNC, "rank %d is not locked", target);
  released = *found;
  holds_.erase(found);
  open_[target].fetch_sub(1, std::memory_order_relaxed);
  if (holds_.empty()) access_.store(Access::none, std::memory_order_release);
  return success;
}

Error Epochs::begin_lock_all() {
  std::lock_guard guard(mutex_);
  return begin(Access::locking_all, "MPI_Win_lock_all");
}

void Epochs::end_lock_all(bool checked) {
  checked_ = checked;
  access_.store(Access::lock_all, std::memory_order_release);
}

Error Epochs::unlock_all(bool& checked) {
  std::lock_guard guard(mutex_);
  const Access now = access_.load(std::memory_order_relaxed);
  if (now != Access::lock_all)
    return fail(MPI_ERR_RMA_SYNC, "MPI_Win_unlock_all while the window is in %s", describe(now));
  checked = checked_;
  access_.store(Access::none, std::memory_order_release);
  return success;
}

Error Epochs::must_be_closed() const {
  const Access now = access_.load(std::memory_order_acquire);
  if (exposed_.load(std::memory_order_acquire))
    return fail(MPI_ERR_RMA_SYNC, "win is freed while it is exposed by MPI_Win_post");
  if (now == Access::none || now == Access::fence || now == Access::fence_used) return success;
  return fail(MPI_ERR_RMA_SYNC, "win is freed while it is in %s", describe(now));
}

}  // namespace heddle::rma
