#include "mpi/rma/create.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <new>
#include <system_error>
#include <vector>

#include "mpi/coll/internal.hpp"
#include "mpi/comm/exchange.hpp"
#include "mpi/comm/split.hpp"
#include "mpi/rma/attachments.hpp"
#include "mpi/rma/reach/messages.hpp"
#include "mpi/rma/window.hpp"
#include "objects/object/faults.hpp"
#include "objects/object/resolve.hpp"
#include "objects/object/tables.hpp"

namespace heddle::rma {

namespace {

constexpr MPI_Aint page = 4096;

// Each member's description, sent to the others.
struct Description {
  std::uint64_t base;  // its memory
  MPI_Aint size;
  MPI_Aint disp_unit;
  bool contiguous;
  int refusal = MPI_SUCCESS;  // it has no memory, or no thread, for its part of a window with messages
};

bool brings_memory(int flavor) { return flavor == MPI_WIN_FLAVOR_CREATE || flavor == MPI_WIN_FLAVOR_DYNAMIC; }

// The first member whose part is invalid.
Error check(const std::vector<Description>& parts, int flavor) {
  if (flavor != MPI_WIN_FLAVOR_CREATE) return success;
  const auto bad = std::find_if(parts.begin(), parts.end(), [](const Description& d) { return !d.base && d.size > 0; });
  if (bad == parts.end()) return success;
  return fail(MPI_ERR_BASE, "base is null at rank %d, but size = %lld", static_cast<int>(bad - parts.begin()),
              static_cast<long long>(bad->size));
}

// True if the kernel lets all members access each other's memory: the same result for all.
Error is_reached_by_kernel(Comm& comm, bool& reached) {
  std::uint64_t all = 1;
  for (int m = 0; m < comm.size && all != 0; ++m)
    all = comm.owner->peer_memory.within_reach(comm.world_rank(m)) ? 1 : 0;
  if (comm.size > 1)
    if (Error e = coll::allreduce(comm, all, coll::ReductionKind::min)) return e;
  reached = all != 0;
  return success;
}

// The start of each member's memory in a block for all of them: contiguous, or each on pages of its own, so that they
// come from the node of their first user. The last one is the end.
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
void join(const node::Heap& heap, const Block& block) {
  if (block.offset != node::nowhere) heap.join(block.offset);
}
void release(node::Heap& heap, const Block& block) {
  if (block.offset != node::nowhere) heap.release(block.offset, block.bytes);
}
Error take_blocks(Comm& comm, std::size_t memory_bytes, Blocks& blocks) {
  node::Heap& heap = p2p::shared_memory(*comm.owner);
  blocks.control.bytes = SharedState::bytes_for(comm.size);
  blocks.memory.bytes = memory_bytes;
  if (comm.rank == 0) {
    blocks.control.offset = heap.allocate(blocks.control.bytes, comm.size);
    if (blocks.control.offset != node::nowhere)
      SharedState::prepare(heap.at<std::byte>(blocks.control.offset), comm.size);
    if (memory_bytes != 0) blocks.memory.offset = heap.allocate(memory_bytes, comm.size);
  }
  if (Error e = coll::bcast_bytes(comm, &blocks, sizeof blocks, 0)) return e;
  if (comm.rank != 0) {
    join(heap, blocks.control);
    join(heap, blocks.memory);
  }
  const bool has_control = blocks.control.offset != node::nowhere;
  const bool has_memory = memory_bytes == 0 || blocks.memory.offset != node::nowhere;
  if (has_control && has_memory) return success;
  release(heap, blocks.control);
  release(heap, blocks.memory);
  return fail(MPI_ERR_NO_MEM, "no room for a window of %zu bytes in the job's shared memory", memory_bytes);
}

// The memory of a window of a rank within reach: its address here, or else its process.
void see_or_name(Target& target, Rank& owner, int rank) {
  const std::byte* const seen = owner.peer_memory.see(rank, target.base, target.size);
  if (seen != nullptr) target.base = reinterpret_cast<std::uintptr_t>(seen);
  target.process = seen != nullptr ? boot::this_process : owner.peer_memory.process_of(rank);
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
      see_or_name(target, *comm.owner, comm.world_rank(static_cast<int>(r)));
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
  win->hints = known_entries(info, InfoReader::window);
  const Target& own = window->targets[static_cast<std::size_t>(comm.rank)];
  win->predefined.base = reinterpret_cast<void*>(own.base);
  win->predefined.size = own.size;
  win->predefined.disp_unit = static_cast<int>(own.disp_unit);
  win->predefined.flavor = part.flavor;
  comm.owner->tables->wins.add(*win);
  return win;
}

// The members that this process can access directly: on its own node allocated memory, and the program's where the
// kernel moves it.
Target find_target(Comm& comm, int member, const Description& part, int flavor) {
  Target target{.base = 0, .size = part.size, .disp_unit = part.disp_unit, .process = by_messages};
  const int rank = comm.world_rank(member);
  if (!comm.owner->node->place().is_local(rank) || flavor == MPI_WIN_FLAVOR_DYNAMIC) return target;
  if (!brings_memory(flavor)) {
    target.base = reinterpret_cast<std::uintptr_t>(
        p2p::shared_memory(*comm.owner).reached<std::byte>(part.base, static_cast<std::size_t>(part.size)));
    target.process = boot::this_process;
  } else if (comm.owner->peer_memory.within_reach(rank)) {
    target.base = part.base;
    see_or_name(target, *comm.owner, rank);
  }
  return target;
}

// This member's end of the messages. Null: it could not be made, and the reason.
std::unique_ptr<reach::Messages> make_messages(Comm& own, std::uintptr_t base, const Part& part, int& refusal) {
  const bool dynamic = part.flavor == MPI_WIN_FLAVOR_DYNAMIC;
  try {
    return std::make_unique<reach::Messages>(own, reinterpret_cast<std::byte*>(dynamic ? 0 : base), part.size, dynamic);
  } catch (const std::bad_alloc&) {
    refusal = MPI_ERR_NO_MEM;
  } catch (const std::system_error&) {  // no thread for it
    refusal = MPI_ERR_OTHER;
  }
  return nullptr;
}

// The error of the first member that cannot make its part.
Error check_refusals(const std::vector<Description>& parts) {
  const auto first = std::ranges::find_if(parts, [](const Description& part) { return part.refusal != MPI_SUCCESS; });
  if (first == parts.end()) return success;
  const auto member = static_cast<int>(first - parts.begin());
  if (first->refusal != MPI_ERR_NO_MEM)
    return fail(first->refusal, "rank %d cannot start the thread that serves the window", member);
  return fail(MPI_ERR_NO_MEM, "rank %d has no memory for the %lld bytes of its part of the window, or for its messages",
              member, static_cast<long long>(first->size));
}

// Members that cannot access each other's memory use messages. Each allocates its own memory, in its node's shared
// memory.
Error create_with_messages(Comm& own, const Part& part, const Info* info, MPI_Win* win) {
  if (part.flavor == MPI_WIN_FLAVOR_SHARED)
    return fail(MPI_ERR_RMA_SHARED,
                "the ranks of comm are on several nodes, which share no memory; MPI_Comm_split_type with "
                "MPI_COMM_TYPE_SHARED makes communicators of ranks that do");
  node::Heap& heap = p2p::shared_memory(*own.owner);
  Description mine{reinterpret_cast<std::uint64_t>(part.base), part.size, part.disp_unit, false};
  std::uintptr_t base = mine.base;
  Block memory;
  if (!brings_memory(part.flavor)) {
    memory.bytes = std::max<std::size_t>(static_cast<std::size_t>(part.size), 1);
    mine.base = memory.offset = heap.allocate(memory.bytes);
    base = reinterpret_cast<std::uintptr_t>(heap.at<std::byte>(memory.offset));
    if (memory.offset == node::nowhere) mine.refusal = MPI_ERR_NO_MEM;
  }
  std::unique_ptr<reach::Messages> messages;
  if (mine.refusal == MPI_SUCCESS) messages = make_messages(own, base, part, mine.refusal);
  std::vector<Description> parts(static_cast<std::size_t>(own.size));
  const auto make = [&] {
    if (Error e = coll::allgather_bytes(own, &mine, parts.data(), sizeof mine)) return e;
    if (Error e = check(parts, part.flavor)) return e;
    if (Error e = check_refusals(parts)) return e;
    std::vector<Target> targets;
    targets.reserve(parts.size());
    for (int member = 0; member < own.size; ++member)
      targets.push_back(find_target(own, member, parts[static_cast<std::size_t>(member)], part.flavor));
    auto window = std::make_unique<Window>(own, std::move(targets), Block{}, memory);
    window->messages = std::move(messages);
    *win = handle_of<MPI_Win>(*make_win(own, part, info, window.release()));
    return success;
  };
  const Error error = make();
  if (error) release(heap, memory);
  return error;
}

// Over the window's own communicator, which stays the caller's if this fails.
Error create_over(Comm& own, const Part& part, const Info* info, MPI_Win* win) {
  const Description mine{reinterpret_cast<std::uint64_t>(part.base), part.size, part.disp_unit, part.contiguous};
  std::vector<Description> parts(static_cast<std::size_t>(own.size));
  if (Error e = coll::allgather_bytes(own, &mine, parts.data(), sizeof mine)) return e;
  if (Error e = check(parts, part.flavor)) return e;
  // An info hint makes the parts contiguous; all should give it alike; if not, that of member 0 counts.
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
  if (comm.size > 1)
    if (Error e = check_survivable(*comm.owner, "a window of several processes")) return e;
  Comm* own = nullptr;
  if (Error e = split(comm, 0, comm.rank, own)) return e;
  bool reached = p2p::is_on_one_node(comm);
  Error error = success;
  if (reached && brings_memory(part.flavor)) error = is_reached_by_kernel(*own, reached);
  if (!error) error = reached ? create_over(*own, part, info, win) : create_with_messages(*own, part, info, win);
  if (error) retire(*own);
  return error;
}

Error destroy(Win& win) {
  Comm& comm = win.window->comm;
  // no member uses it any more; without memory for it the window stays unchanged
  const Error error = coll::barrier(comm);
  const std::unique_ptr<Window> window(win.window);
  release_attachments(*window);
  const bool frees_pages = window->messages || comm.rank == 0;  // of the window's memory
  window->messages.reset();
  node::Heap& heap = p2p::shared_memory(*comm.owner);
  // It may be much: the pages go back to the machine, not only to the job.
  if (frees_pages && window->memory.offset != node::nowhere)
    madvise(heap.at<std::byte>(window->memory.offset), window->memory.bytes, MADV_REMOVE);
  release(heap, window->memory);
  release(heap, window->control);
  comm.owner->tables->wins.remove(win);
  retire(comm);
  retire(win);
  return error;
}

}  // namespace heddle::rma
