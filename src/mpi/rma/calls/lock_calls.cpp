// Passive target synchronization: locks and flushes (MPI 5.0, sections 12.5.3 and 12.5.4).
//
// Operations are complete when they return, so that a flush only has to put memory in order; and since programs call it
// while they wait for each other, it also makes progress if there is something to move. In a window with messages a flush
// waits for the answers, and targets keep their locks themselves (reach/origin.hpp).
#include "base/platform/native.hpp"
#include "base/threads/thread_ref.hpp"
#include "mpi/rma/calls/assertions.hpp"
#include "mpi/rma/reach/messages.hpp"
#include "mpi/rma/window.hpp"
#include "objects/binding/impl.hpp"

namespace heddle::rma {

namespace {

void release(Window& window, int target, LockType type) {
  if (!window.gate(target).lock.unlock(type)) return;
  for (int member = 0; member < window.comm.size; ++member) window.notify(member);
}

constexpr int every_target = -1;

// Tries until it succeeds, blocking after a while; `announce` and `withdraw` register with the releasing threads.
template <class Attempt, class Announce, class Withdraw>
void acquire(Window& window, int target, Attempt&& attempt, Announce&& announce, Withdraw&& withdraw) {
  bool taken = attempt();
  if (taken) return;
  announce();
  const auto holds = [&] { return taken || (taken = attempt()); };  // called again after it has succeeded
  window.wait_until(boot::Awaited::target_lock, target, holds);
  withdraw();
}

Error lock(Window& window, const Hold& hold) {
  if (window.messages) [[unlikely]]
    return window.messages->origin.lock(hold.target, hold.type);
  TargetLock& word = window.gate(hold.target).lock;
  acquire(
      window, hold.target, [&] { return word.try_lock(hold.type); }, [&] { word.announce(); },
      [&] { word.withdraw(); });
  return success;
}

// Operations at the target are complete, and the lock is released, if it was taken.
Error unlock(Window& window, int target, const Hold& hold) {
  if (window.messages) [[unlikely]]
    return hold.checked ? window.messages->origin.unlock(target, hold.type) : window.messages->origin.flush(target);
  if (hold.checked) release(window, target, hold.type);
  return success;
}

// All or none: a process that holds some locks and waits for others could deadlock with another. A release wakes the
// waiting processes, and two that wait for a third could wake each other by that without end; so nothing is taken
// before all seem free.
bool try_lock_all(Window& window) {
  for (int target = 0; target < window.comm.size; ++target)
    if (!window.gate(target).lock.is_free(LockType::shared)) return false;
  for (int target = 0; target < window.comm.size; ++target) {
    if (window.gate(target).lock.try_lock(LockType::shared)) continue;
    for (int taken = 0; taken < target; ++taken) release(window, taken, LockType::shared);
    return false;
  }
  return true;
}

Error lock_all(Window& window) {
  if (window.messages) [[unlikely]]
    return window.messages->origin.lock_all();
  const auto each = [&](auto&& act) {
    for (int target = 0; target < window.comm.size; ++target) act(window.gate(target).lock);
  };
  acquire(
      window, every_target, [&] { return try_lock_all(window); },
      [&] { each([](TargetLock& word) { word.announce(); }); },
      [&] { each([](TargetLock& word) { word.withdraw(); }); });
  return success;
}

Error unlock_all(Window& window, bool checked) {
  if (window.messages) [[unlikely]]
    return checked ? window.messages->origin.unlock_all() : window.messages->origin.flush_all();
  for (int target = 0; checked && target < window.comm.size; ++target) release(window, target, LockType::shared);
  return success;
}

// Programs that poll memory of a window flush between their polls, so it makes progress, too.
[[gnu::cold, gnu::noinline]] Error flush_messages(Window& window, int target) {
  reach::Origin& origin = window.messages->origin;
  const Error error = target == every_target ? origin.flush_all() : origin.flush(target);
  order_memory();
  p2p::poll_once(*window.comm.owner);
  return error;
}

Error flush(Window& window) {
  order_memory();
  p2p::poll_once(*window.comm.owner);
  return success;
}

[[gnu::always_inline]] inline Error flush(Win& win, int rank) {
  if (Error e = check_rank(win, "rank", rank)) return e;
  if (Error e = win.window->epochs.must_be_locked(rank)) return e;
  if (win.window->messages) [[unlikely]]
    return flush_messages(*win.window, rank);
  return flush(*win.window);
}

Error flush_all(Win& win) {
  if (Error e = win.window->epochs.must_be_locked()) return e;
  if (win.window->messages) [[unlikely]]
    return flush_messages(*win.window, every_target);
  return flush(*win.window);
}

}  // namespace

}  // namespace heddle::rma

namespace heddle::mpi {

using rma::LockType;

Error Win_lock(int lock_type, int rank, int assert, Win& win) {
  if (lock_type != MPI_LOCK_SHARED && lock_type != MPI_LOCK_EXCLUSIVE)
    return fail(MPI_ERR_LOCKTYPE, "lock_type = %d is neither MPI_LOCK_SHARED nor MPI_LOCK_EXCLUSIVE", lock_type);
  if (Error e = rma::check_assertion(assert, MPI_MODE_NOCHECK)) return e;
  if (rank == MPI_PROC_NULL) return success;
  if (Error e = rma::check_rank(win, "rank", rank)) return e;
  const rma::Hold hold{rank, lock_type == MPI_LOCK_EXCLUSIVE ? LockType::exclusive : LockType::shared,
                       (assert& MPI_MODE_NOCHECK) == 0, threads::identity(), false};
  if (Error e = win.window->epochs.begin_lock(hold)) return e;
  const Error error = hold.checked ? rma::lock(*win.window, hold) : success;
  win.window->epochs.end_lock(hold);
  rma::order_memory();
  return error;
}

Error Win_unlock(int rank, Win& win) {
  if (rank == MPI_PROC_NULL) return success;
  if (Error e = rma::check_rank(win, "rank", rank)) return e;
  rma::Hold released{};
  released.thread = threads::identity();
  if (Error e = win.window->epochs.unlock(rank, released)) return e;
  rma::order_memory();
  return rma::unlock(*win.window, rank, released);
}

Error Win_lock_all(int assert, Win& win) {
  if (Error e = rma::check_assertion(assert, MPI_MODE_NOCHECK)) return e;
  const bool checked = (assert& MPI_MODE_NOCHECK) == 0;
  if (Error e = win.window->epochs.begin_lock_all()) return e;
  const Error error = checked ? rma::lock_all(*win.window) : success;
  win.window->epochs.end_lock_all(checked);
  rma::order_memory();
  return error;
}

Error Win_unlock_all(Win& win) {
  bool checked;
  if (Error e = win.window->epochs.unlock_all(checked)) return e;
  rma::order_memory();
  return rma::unlock_all(*win.window, checked);
}

Error Win_flush(int rank, Win& win) { return rma::flush(win, rank); }
Error Win_flush_local(int rank, Win& win) { return rma::flush(win, rank); }
Error Win_flush_all(Win& win) { return rma::flush_all(win); }
Error Win_flush_local_all(Win& win) { return rma::flush_all(win); }

// Programs that poll memory of a window call this between their polls, so it makes progress, too.
Error Win_sync(Win& win) { return rma::flush(*win.window); }

}  // namespace heddle::mpi
