#include "rma/create.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "coll/internal.hpp"
#include "comm/exchange.hpp"
#include "comm/split.hpp"
#include "object/resolve.hpp"
#include "object/tables.hpp"
#include "rma/attachments.hpp"
#include "rma/hints.hpp"
#include "rma/window.hpp"

namespace heddle::rma {

namespace {

constexpr MPI_Aint page = 4096;

// What every member tells the others.
struct Description {
  std::uint64_t base;  // its memory
  MPI_Aint size;
  MPI_Aint disp_unit;
  bool contiguous;
};

bool brings_memory(int flavor) { return flavor == MPI_WIN_FLAVOR_CREATE || flavor == MPI_WIN_FLAVOR_DYNAMIC; }

// The first member whose part makes no sense.
Error check(const std::vector<Description>& parts, int flavor) {
  if (flavor != MPI_WIN_FLAVOR_CREATE) return success;
  const auto bad = std::find_if(parts.begin(), parts.end(), [](const Description& d) { return !d.base && d.size > 0; });
  if (bad == parts.end()) return success;
  return fail(MPI_ERR_BASE, "base is null at rank %d, but size = %lld", static_cast<int>(bad - parts.begin()),
              static_cast<long long>(bad->size));
}

// Whether members can reach each other's memory: all get the same answer.
Error check_far_memory(Comm& comm) {
  std::uint64_t reason = 0;
  for (int m = 0; m < comm.size && reason == 0; ++m)
    if (!comm.owner->peer_memory.within_reach(comm.world_rank(m)))
      reason = static_cast<std::uint64_t>(comm.owner->peer_memory.reason_out_of_reach(comm.world_rank(m)));
  if (comm.size > 1)
    if (Error e = coll::allreduce(comm, reason, coll::Fold::max)) return e;
  if (reason == 0) return success;
  char text[128];
  return fail(
      MPI_ERR_UNSUPPORTED_OPERATION,
      "the kernel does not let processes reach each other's memory (process_vm_readv: %s), so a window can only "
      "be had of memory from MPI_Win_allocate",
      boot::reason_text(static_cast<int>(reason), text));
}

// Where the members' memory begins in a block for all of them: side by side, or each on pages of its own, so that they
// come from the node of whoever touches them first. The last one is the end.
std::vector<std::size_t> lay_out(const std::vector<Description>& parts, bool contiguous) {
  std::vector<std::size_t> places{0};
  for (const Description& part : parts) {
    const MPI_Aint bytes = contiguous ? part.size : (part.size + page - 1) / page * page;
    places.push_back(places.back() + static_cast<std::size_t>(bytes));
  }
  return places;
}

// Member 0 takes the blocks that all need from the job's memory, and each of them releases both.
struct Blocks {
  Block control;
  Block memory;
};
void join(const lln::shm::Heap& heap, const Block& block) {
  if (block.offset != lln::shm::nowhere) heap.join(block.offset);
}
void release(lln::shm::Heap& heap, const Block& block) {
  if (block.offset != lln::shm::nowhere) heap.release(block.offset, block.bytes);
}
Error take_blocks(Comm& comm, std::size_t memory_bytes, Blocks& blocks) {
  lln::shm::Heap& heap = p2p::shared_memory(*comm.owner);
  blocks.control.bytes = SharedState::bytes_for(comm.size);
  blocks.memory.bytes = memory_bytes;
  if (comm.rank == 0) {
    blocks.control.offset = heap.allocate(blocks.control.bytes, comm.size);
    if (blocks.control.offset != lln::shm::nowhere)
      SharedState::prepare(heap.at<std::byte>(blocks.control.offset), comm.size);
    if (memory_bytes != 0) blocks.memory.offset = heap.allocate(memory_bytes, comm.size);
  }
  if (Error e = coll::bcast_bytes(comm, &blocks, sizeof blocks, 0)) return e;
  if (comm.rank != 0) {
    join(heap, blocks.control);
    join(heap, blocks.memory);
  }
  const bool has_control = blocks.control.offset != lln::shm::nowhere;
  const bool has_memory = memory_bytes == 0 || blocks.memory.offset != lln::shm::nowhere;
  if (has_control && has_memory) return success;
  release(heap, blocks.control);
  release(heap, blocks.memory);
  return fail(MPI_ERR_NO_MEM, "the job's shared memory has no room for a window of %zu bytes", memory_bytes);
}

std::vector<Target> find_targets(Comm& comm, const std::vector<Description>& parts, int flavor,
                                 const std::vector<std::size_t>& places, const Block& memory) {
  std::vector<Target> targets;
  for (std::size_t r = 0; r < parts.size(); ++r) {
    Target target{.base = parts[r].base, .size = parts[r].size, .disp_unit = parts[r].disp_unit};
    if (!brings_memory(flavor)) {
      const auto* block = p2p::shared_memory(*comm.owner).at<std::byte>(memory.offset);
      target.base = reinterpret_cast<std::uintptr_t>(block) + places[r];
    } else {
      target.process = comm.owner->peer_memory.process_of(comm.world_rank(static_cast<int>(r)));
    }
    targets.push_back(target);
  }
  return targets;
}

Win* make_win(Comm& comm, const Part& part, const Info* info, Window* window) {
  Win* win = make_object<Win>();
  win->comm = &comm;
  win->window = window;
  win->errhandler.set(*comm.owner->tables->errors_are_fatal);
  win->hints = known_hints(info);
  const Target& own = window->targets[static_cast<std::size_t>(comm.rank)];
  win->predefined.base = reinterpret_cast<void*>(own.base);
  win->predefined.size = own.size;
  win->predefined.disp_unit = static_cast<int>(own.disp_unit);
  win->predefined.flavor = part.flavor;
  comm.owner->tables->wins.add(*win);
  return win;
}

// Over the window's own communicator, which stays the caller's if this fails.
Error create_over(Comm& own, const Part& part, const Info* info, MPI_Win* win) {
  const Description mine{reinterpret_cast<std::uint64_t>(part.base), part.size, part.disp_unit, part.contiguous};
  std::vector<Description> parts(static_cast<std::size_t>(own.size));
  if (Error e = coll::allgather_bytes(own, &mine, parts.data(), sizeof mine)) return e;
  if (Error e = check(parts, part.flavor)) return e;
  if (brings_memory(part.flavor)) {
    if (Error e = check_far_memory(own)) return e;
  }
  // Whether they lie side by side is an info hint, which all should give alike; if not, that of member 0 counts.
  const std::vector<std::size_t> places = lay_out(parts, parts[0].contiguous);
  Blocks blocks;
  const std::size_t bytes = brings_memory(part.flavor) ? 0 : std::max<std::size_t>(places.back(), 1);
  if (Error e = take_blocks(own, bytes, blocks)) return e;
  auto window = std::make_unique<Window>(own, find_targets(own, parts, part.flavor, places, blocks.memory),
                                         blocks.control, blocks.memory);
  *win = handle_of<MPI_Win>(*make_win(own, part, info, window.release()));
  return success;
}

}  // namespace

Error create(Comm& comm, const Part& part, const Info* info, MPI_Win* win) {
  Comm* own = nullptr;
  if (Error e = split(comm, 0, comm.rank, own)) return e;
  if (Error e = create_over(*own, part, info, win)) return retire(*own), e;
  return success;
}

Error destroy(Win& win) {
  const std::unique_ptr<Window> window(win.window);
  Comm& comm = window->comm;
  const Error error = coll::barrier(comm);  // nobody uses it any more
  release_attachments(*window);
  lln::shm::Heap& heap = p2p::shared_memory(*comm.owner);
  // It may be much: the pages go back to the machine, not only to the job.
  if (comm.rank == 0 && window->memory.offset != lln::shm::nowhere)
    madvise(heap.at<std::byte>(window->memory.offset), window->memory.bytes, MADV_REMOVE);
  release(heap, window->memory);
  release(heap, window->control);
  comm.owner->tables->wins.remove(win);
  retire(comm);
  retire(win);
  return error;
}

}  // namespace heddle::rma
