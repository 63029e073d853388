#include "mpi/coll/node/far.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>

#include "launch/boot/peer_memory.hpp"
#include "mpi/coll/node/buffer_exchange.hpp"
#include "mpi/coll/state.hpp"

namespace heddle::coll {

namespace {

constexpr std::size_t block_bytes = 32 * 1024;  // of a reduction at a time: operand and sum stay in a core's cache

// A member's data for the others.
struct Place {
  std::uint64_t operand;  // an address in its own memory
  std::size_t stride;     // of the blocks of an all-to-all
  bool can;               // take part
  int failed;             // the errno of a copy, written before the second synchronization
};

std::uint64_t address_of(const BufferView& run) {
  return reinterpret_cast<std::uint64_t>(run_start(*run.type, run.data));
}
bool is_run(const BufferView& view) { return heddle::is_run(*view.type, view.count); }
std::byte* start_of(const BufferView& run) { return static_cast<std::byte*>(run_start(*run.type, run.data)); }

// Members that access each other's memory, in one operation.
class Reach {
 public:
  Reach(Region& region, Comm& comm, const Signature& signature)
      : region_(region),
        comm_(comm),
        signature_(signature),
        memory_(comm.owner->peer_memory),
        exchange_(region, signature) {}

  // The first time members test if they can access each other, when all have come, since until then some may not have
  // joined the job.
  enum class Begun : std::uint8_t { yes, cannot, disagree };
  Begun begin(bool can, std::uint64_t operand, std::size_t stride) {
    if (!region_.reach()) {
      if (!exchange_.begin({})) return Begun::disagree;
      exchange_.part();
      if (!exchange_.begin({0, 0, reaches_all(), 0})) return Begun::disagree;
      region_.set_reach(all_can());
      exchange_.part();
    }
    if (!*region_.reach()) return Begun::cannot;
    if (!exchange_.begin({operand, stride, can, 0})) return Begun::disagree;
    if (all_can()) return Begun::yes;
    exchange_.part();
    return Begun::cannot;
  }
  Attempt not_begun(Begun how) {
    if (how == Begun::cannot) return {};
    return disagree(region_, comm_, region_.last_entered(), signature_);
  }

  const Place& of(int m) const { return exchange_.of(m); }
  // `n` bytes of that member's memory.
  void read(int m, std::uint64_t theirs, void* ours, std::size_t n) {
    if (failed_ != 0 || n == 0) return;
    const int peer = comm_.world_rank(m);
    try {
      const pid_t process = memory_.process_of(peer);
      const bool near = process == boot::this_process;
      if (const std::byte* seen = near ? reinterpret_cast<std::byte*>(theirs) : memory_.see(peer, theirs, n))
        std::memcpy(ours, seen, n);
      else
        failed_ = boot::move_bytes(boot::Direction::read, process, ours, theirs, n);
    } catch (const std::bad_alloc&) {  // the others wait for us at the end
      failed_ = ENOMEM;
    }
  }

  // All members are done; true if a member's copy has failed.
  Attempt end() {
    exchange_.of(comm_.rank).failed = failed_;
    exchange_.synchronize_again();
    int who = 0, failed = 0;
    for (int m = 0; m < comm_.size; ++m)
      if (exchange_.of(m).failed != 0) who = m, failed = exchange_.of(m).failed;
    exchange_.end();
    if (failed == 0) return success;
    char text[128];
    return fail(MPI_ERR_OTHER,
                "the kernel did not copy between the buffers of rank %d of the communicator and those of others: %s",
                who, boot::reason_text(failed, text));
  }

 private:
  bool all_can() const {
    for (int m = 0; m < comm_.size; ++m)
      if (!exchange_.of(m).can) return false;
    return true;
  }
  bool reaches_all() const {
    for (int m = 0; m < comm_.size; ++m)
      if (!memory_.within_reach(comm_.world_rank(m))) return false;
    return true;
  }

  Region& region_;
  Comm& comm_;
  const Signature& signature_;
  boot::PeerMemory& memory_;
  BufferExchange<Place> exchange_;
  int failed_ = 0;
};

// Elements of all operands from `offset` bytes on, reduced in rank order from the last to the first.
void reduce_block(Reach& reach, const Comm& comm, const BufferView& mine, std::size_t offset, MPI_Count n, const Op& op,
                  std::byte* sum, std::byte* room) {
  const std::size_t bytes = packed_size(*mine.type, n);
  std::byte* const own = start_of(mine) + offset;
  const int last = comm.size - 1;
  if (last == comm.rank)
    std::memcpy(sum, own, bytes);
  else
    reach.read(last, reach.of(last).operand + offset, sum, bytes);
  for (int m = last - 1; m >= 0; --m) {
    if (m != comm.rank) reach.read(m, reach.of(m).operand + offset, room, bytes);
    reduce_local(op, m == comm.rank ? own : room, sum, n, *mine.type);
  }
}

}  // namespace

Attempt far_reduce_scatter(Region& region, Comm& comm, const BufferView& mine, MPI_Count first,
                           const BufferView& result, const Signature& signature, const Op& op) {
  const auto unit = static_cast<std::size_t>(mine.type->size);
  const std::size_t step = std::max(unit, block_bytes / unit * unit);
  const std::unique_ptr<std::byte[]> room(new (std::nothrow) std::byte[step]);
  Reach reach(region, comm, signature);
  const auto begun = reach.begin(room != nullptr && mine.data != result.data, address_of(mine), 0);
  if (begun != Reach::Begun::yes) return reach.not_begun(begun);
  const std::size_t skip = static_cast<std::size_t>(first) * unit, end = result.bytes();
  for (std::size_t at = 0; at < end; at += step) {
    const auto n = static_cast<MPI_Count>(std::min(step, end - at) / unit);
    reduce_block(reach, comm, mine, skip + at, n, op, start_of(result) + at, room.get());
  }
  return reach.end();
}

Attempt far_allgather(Region& region, Comm& comm, const BufferView& mine, const Blocks& all,
                      const Signature& signature) {
  bool can = is_run(mine);
  for (int m = 0; m < comm.size; ++m) can = can && is_run(all[m]);
  Reach reach(region, comm, signature);
  const auto begun = reach.begin(can, can ? address_of(mine) : 0, 0);
  if (begun != Reach::Begun::yes) return reach.not_begun(begun);
  if (const BufferView own = all[comm.rank]; own.data != mine.data) copy(mine, own);
  for (int i = 1; i < comm.size; ++i) {  // from the next one on, so that not all read the same one
    const int m = (comm.rank + i) % comm.size;
    reach.read(m, reach.of(m).operand, start_of(all[m]), signature.bytes);
  }
  return reach.end();
}

Attempt far_alltoall(Region& region, Comm& comm, const Blocks& from, const Blocks& to, const Signature& signature) {
  const bool can = is_run(from[0]) && is_run(to[0]) && from.base != to.base;
  Reach reach(region, comm, signature);
  const auto stride = static_cast<std::size_t>(from.count * from.type->extent);
  const auto begun = reach.begin(can, can ? address_of(from[0]) : 0, stride);
  if (begun != Reach::Begun::yes) return reach.not_begun(begun);
  copy(from[comm.rank], to[comm.rank]);
  for (int i = 1; i < comm.size; ++i) {
    const int m = (comm.rank + i) % comm.size;
    const Place& theirs = reach.of(m);
    reach.read(m, theirs.operand + static_cast<std::size_t>(comm.rank) * theirs.stride, start_of(to[m]),
               signature.bytes);
  }
  return reach.end();
}

}  // namespace heddle::coll
