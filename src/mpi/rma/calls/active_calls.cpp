// Active target synchronization: fence; post, start, complete, wait (MPI 5.0, sections 12.5.1 and 12.5.2).
//
// A target that posts leaves a mark for each origin; an origin's start waits for the marks of its targets and takes them.
// An origin that completes counts itself at each of its targets, whose wait waits for the count. All operations of the
// epoch are complete by then, so nothing else has to be waited for. A window with messages sends them instead (reach/exposure.hpp).
#include "mpi/coll/internal.hpp"
#include "mpi/coll/stages.hpp"
#include "mpi/rma/calls/assertions.hpp"
#include "mpi/rma/reach/messages.hpp"
#include "mpi/rma/window.hpp"
#include "objects/binding/impl.hpp"
#include "objects/object/group.hpp"

namespace heddle::rma {

namespace {

// The members of a group, as ranks of the window's.
Error find_members(const Win& win, const Group& group, std::vector<int>& members) {
  const RankFinder find(*win.comm->local_group);
  for (int r = 0; r < group.size; ++r) {
    const int member = find(group.world_rank(r));
    if (member == MPI_UNDEFINED)
      return fail(MPI_ERR_GROUP, "rank %d of group is not a process of the window's group", r);
    members.push_back(member);
  }
  return success;
}

Error barrier(Comm& comm) {
  if (coll::Attempt done = coll::shared_barrier(comm)) return *done;
  if (coll::Attempt done = coll::staged_barrier(comm)) return *done;
  return coll::barrier(comm);
}

// True if all origins have completed. Then the exposure epoch is over.
bool is_complete(const Window& window) {
  const Gate& gate = window.gate(window.comm.rank);
  return gate.completed.load(std::memory_order_acquire) == window.epochs.origins();
}
void end_exposure(Window& window) {
  window.gate(window.comm.rank).completed.store(0, std::memory_order_relaxed);  // before the next post admits an origin
  window.epochs.wait();
}

Error complete_by_messages(reach::Messages& messages, const std::vector<int>& targets) {
  Error failed = success;
  for (const int target : targets)
    if (Error e = messages.origin.flush(target); e && !failed) failed = e;
  if (Error e = messages.exposure.complete(targets)) return e;
  return failed;
}

}  // namespace

}  // namespace heddle::rma

namespace heddle::mpi {

using rma::Window;

Error Win_fence(int assert, Win& win) {
  if (Error e =
          rma::check_assertion(assert, MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED))
    return e;
  if (Error e = win.window->epochs.fence((assert& MPI_MODE_NOSUCCEED) == 0)) return e;
  Error failed = success;  // of operations; the others still come to the barrier
  if (win.window->messages) [[unlikely]]
    failed = win.window->messages->origin.flush_all();
  rma::order_memory();
  if (Error e = rma::barrier(*win.comm)) return e;
  rma::order_memory();
  return failed;
}

Error Win_post(Group& group, int assert, Win& win) {
  if (Error e = rma::check_assertion(assert, MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT)) return e;
  std::vector<int> origins;
  if (Error e = rma::find_members(win, group, origins)) return e;
  Window& window = *win.window;
  if (Error e = window.epochs.post(origins.size())) return e;
  if (window.messages) [[unlikely]]
    return window.messages->exposure.post(origins, (assert& MPI_MODE_NOCHECK) == 0);
  if (assert & MPI_MODE_NOCHECK) return success;  // no MPI_Win_start reads marks
  for (int origin : origins) {
    window.posted(origin, window.comm.rank).store(1, std::memory_order_release);
    window.notify(origin);
  }
  return success;
}

Error Win_start(Group& group, int assert, Win& win) {
  if (Error e = rma::check_assertion(assert, MPI_MODE_NOCHECK)) return e;
  std::vector<int> targets;
  if (Error e = rma::find_members(win, group, targets)) return e;
  Window& window = *win.window;
  if (Error e = window.epochs.start(targets)) return e;
  if (assert & MPI_MODE_NOCHECK) return success;
  if (window.messages) [[unlikely]]
    return window.messages->exposure.await_posts(targets);
  for (int target : targets) {
    rma::SharedState::Posted& mark = window.posted(window.comm.rank, target);
    window.wait_until(boot::Awaited::target_post, target,
                      [&mark] { return mark.load(std::memory_order_acquire) != 0; });
    mark.store(0, std::memory_order_relaxed);
  }
  return success;
}

Error Win_complete(Win& win) {
  Window& window = *win.window;
  std::vector<int> targets;
  if (Error e = window.epochs.complete(targets)) return e;
  rma::order_memory();
  if (window.messages) [[unlikely]]
    return rma::complete_by_messages(*window.messages, targets);
  for (int target : targets) {
    window.gate(target).completed.fetch_add(1, std::memory_order_release);
    window.notify(target);
  }
  return success;
}

Error Win_wait(Win& win) {
  Window& window = *win.window;
  if (Error e = window.epochs.must_be_exposed()) return e;
  if (window.messages) [[unlikely]] {
    const Error error = window.messages->exposure.wait();
    window.epochs.wait();
    return error;
  }
  window.wait_until(boot::Awaited::origins, -1, [&window] { return rma::is_complete(window); });
  rma::end_exposure(window);
  return success;
}

Error Win_test(Win& win, int* flag) {
  Window& window = *win.window;
  if (Error e = window.epochs.must_be_exposed()) return e;
  if (window.messages) [[unlikely]] {
    *flag = window.messages->exposure.test();
    if (!*flag) return success;
    window.epochs.wait();
    return window.messages->exposure.end();
  }
  *flag = p2p::test(*window.comm.owner, nullptr, [&] { return rma::is_complete(window); });
  if (*flag) rma::end_exposure(window);
  return success;
}

}  // namespace heddle::mpi
