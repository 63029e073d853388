// A window at work: the memory of each member, the shared state, and the open epochs of this process.
//
// Operations need no help of the target and are complete when their call returns, by one of two ways:
//
//   near   memory from MPI_Win_allocate and MPI_Win_allocate_shared is in the job's segment, which every rank maps, and
//          a process' own memory is near to itself: data are copied from layout to layout
//   far    memory that the program brought itself, at MPI_Win_create and MPI_Win_attach: the kernel moves the data
//          between the processes (far_memory.hpp)
//
// Where a member cannot be reached so, the window has messages (reach/messages.hpp): for operations on that member, for
// those that combine, and for all synchronization.
//
// Any thread may call any operation; their shared state is in the epochs (epochs.hpp) and in the gates
// (shared_state.hpp).
#pragma once

#include <mpi.h>
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "base/node/heap.hpp"
#include "launch/boot/peer_memory.hpp"
#include "messaging/engine/blocked.hpp"
#include "messaging/p2p/p2p.hpp"
#include "mpi/rma/epochs/epochs.hpp"
#include "mpi/rma/shared_state.hpp"
#include "objects/object/comm.hpp"
#include "objects/object/error.hpp"
#include "objects/object/win.hpp"

namespace heddle::rma {

namespace reach {
class Messages;
}

// In place of the process of a target: its memory is on another node, or the kernel does not let us access it.
inline constexpr pid_t by_messages = -1;

// A member's memory.
struct Target {
  std::uintptr_t base = 0;  // of displacement 0, in the address space where it is accessible; dynamic windows: 0
  MPI_Aint size = 0;
  MPI_Aint disp_unit = 1;
  pid_t process = boot::this_process;  // the process of that address space; by_messages: base is 0
};

// A block of the job's shared memory.
struct Block {
  node::Offset offset = node::nowhere;
  std::size_t bytes = 0;
};

class Window {
 public:
  // A window with messages has no control block.
  Window(Comm& comm, std::vector<Target> targets, Block control, Block memory);
  ~Window();

  Gate& gate(int member) const { return shared_.gate(member); }
  SharedState::Posted& posted(int origin, int target) const { return shared_.posted(origin, target); }
  // After a store that this member may be waiting for.
  void notify(int member) const { p2p::notify(*comm.owner, comm.world_rank(member)); }
  // The report of a wait: `what` is awaited of the member `peer`, or of all.
  template <class F>
  void wait_until(boot::Awaited what, int peer, const F& holds) const {
    p2p::wait_until(*comm.owner, engine::wait_on(comm, what, peer), holds);
  }

  Comm& comm;
  Epochs epochs;
  const std::vector<Target> targets;  // by rank in the group
  const Block control;
  const Block memory;  // of all members together, by messages of this one; nowhere unless the window allocated it
  // Null: this process accesses all of the window itself, and all shared state is in memory.
  std::unique_ptr<reach::Messages> messages;

 private:
  const SharedState shared_;
};

inline bool is_dynamic(const Win& win) { return win.predefined.flavor == MPI_WIN_FLAVOR_DYNAMIC; }

// A rank of the window's group, as an argument of this name.
[[gnu::cold]] Error fail_rank(const Win& win, const char* argument, int rank);
inline Error check_rank(const Win& win, const char* argument, int rank) {
  if (0 <= rank && rank < win.comm->size) return success;
  return fail_rank(win, argument, rank);
}

// A thread that reads after this sees our earlier stores, and the other way round.
inline void order_memory() { std::atomic_thread_fence(std::memory_order_seq_cst); }

}  // namespace heddle::rma
