#include "mpi/coll/node/region.hpp"

#include <new>

namespace heddle::coll {

namespace {

bool are_of_one_process(const Comm& comm, const Members& members) {
  for (int m = 0; m < members.size; ++m)
    if (!comm.owner->peer_memory.same_space(comm.world_rank(members.in_comm(m)))) return false;
  return true;
}

}  // namespace

Region::Region(Comm& comm, const Members& members, std::byte* base, bool oversubscribed)
    : comm_(comm),
      base_(base),
      members_(members),
      oversubscribed_(oversubscribed),
      one_process_(are_of_one_process(comm, members)),
      shared_{base},
      rounds_(shared_, static_cast<std::uint32_t>(members.size), static_cast<std::uint32_t>(members.rank)) {}

void Region::prepare(const Comm& comm, std::byte* base, const Members& members) {
  new (base) RegionHead{};
  new (base + sizeof(RegionHead)) SlotSet[slot_sets]{};
  for (int m = 0; m < members.size; ++m) {
    std::byte* const at =
        base + sizeof(RegionHead) + slot_sets * sizeof(SlotSet) + static_cast<std::size_t>(m) * sizeof(Member);
    auto* const member = new (at) Member{};
    member->rank = members.in_comm(m);
    member->job_rank = comm.world_rank(members.in_comm(m));
  }
}

void Region::release(node::Heap& heap, node::Offset block, int members) {
  const Shared shared{heap.at<std::byte>(block)};
  auto& gone = reinterpret_cast<RegionHead*>(shared.base)->gone;
  // The last to go acquires from the others their reads of deposits, and the deposits' places.
  if (gone.fetch_add(1, std::memory_order_acq_rel) + 1 == static_cast<std::uint32_t>(members)) {
    for (std::uint32_t m = 0; m < static_cast<std::uint32_t>(members); ++m)
      if (const node::Offset deposits = shared.member(m).deposits.load(std::memory_order_relaxed))
        heap.release(deposits, deposits_bytes);
  }
  heap.release(block, bytes_for(members));
}

void Region::make_deposits(int m) {
  if (out_of_memory_) return;
  node::Heap& heap = p2p::shared_memory(*comm_.owner);
  const node::Offset made = heap.allocate(deposits_bytes);
  out_of_memory_ = made == node::nowhere;
  node::Offset there = node::nowhere;
  // Its member and the root of a scatter may make it at the same time.
  if (!out_of_memory_ && !member(m).deposits.compare_exchange_strong(there, made, std::memory_order_acq_rel))
    heap.release(made, deposits_bytes);
}

bool Region::await_readers(Round e) {
  const auto await_members = [&](const auto& finished) { await(boot::Awaited::members, e, -1, finished); };
  rounds_.await_finished(e, await_members, [&] { return strayed(e); });
  return !strayed(e);
}

void Region::finish(Round e) {
  if (!rounds_.finish(e)) [[likely]]
    return;
  for (int m = 0; m < members_.size; ++m) {
    if (m != members_.rank) notify(m);
  }
}

Error Region::disagreement(Round e, const Signature& mine) const {
  constexpr const char* names[] = {"no collective", "MPI_Barrier",   "MPI_Bcast",    "MPI_Reduce",
                                   "MPI_Allreduce", "MPI_Allgather", "MPI_Alltoall", "MPI_Reduce_scatter",
                                   "MPI_Scan",      "MPI_Exscan",    "MPI_Gather",   "MPI_Scatter"};
  constexpr const char* advice = "do all processes agree on counts and datatypes?";
  const auto differs = [&](Signature::Kind kind, std::uint64_t bytes) {
    return kind != mine.kind || bytes != mine.bytes;
  };
  // The root of a broadcast has left its length in the slot set.
  if (mine.kind == Signature::bcast && is_open(e) && slot_set(e).kind == Signature::bcast &&
      differs(mine.kind, slot_set(e).bytes))
    return fail(MPI_ERR_TRUNCATE, "the root broadcasts %llu bytes, but rank %d of the communicator expects %zu; %s",
                static_cast<unsigned long long>(slot_set(e).bytes), comm_.rank, mine.bytes, advice);
  for (int m = 0; m < members_.size; ++m) {
    const Member::Note& other = member(m).notes[e % 2];
    const std::uint64_t what = other.what.load(std::memory_order_relaxed);
    const std::uint64_t bytes = other.bytes.load(std::memory_order_relaxed);
    const auto kind = static_cast<Signature::Kind>(what & ((1 << Signature::kind_bits) - 1));
    // A member that is more than one operation ahead has left no signature to report.
    if (what >> Signature::kind_bits != e || !differs(kind, bytes)) continue;
    return fail(kind == mine.kind ? MPI_ERR_TRUNCATE : MPI_ERR_OTHER,
                "rank %d of the communicator is in %s with %llu bytes, rank %d in %s with %zu; %s", members_.in_comm(m),
                names[kind], static_cast<unsigned long long>(bytes), comm_.rank, names[mine.kind], mine.bytes, advice);
  }
  return fail(MPI_ERR_TRUNCATE, "rank %d of the communicator is in %s with %zu bytes, another process is not; %s",
              comm_.rank, names[mine.kind], mine.bytes, advice);
}

}  // namespace heddle::coll
