#include "mpi/ft/shared_comm.hpp"

#include <new>

namespace heddle::ft {

namespace {

// Contexts may be 0 (MPI_COMM_WORLD); a free entry has 0.
std::uint64_t key_of(Context context) { return context + 1; }
Context context_of(std::uint64_t key) { return key - 1; }

class Locked {
 public:
  explicit Locked(const Rank& rank)
      : guard_(rank.job->shared_comms().locked, static_cast<std::uint32_t>(rank.world_rank),
               [&rank](std::uint32_t other) { return rank.job->is_gone(static_cast<int>(other)); }) {}

 private:
  const sync::RobustGuard<platform::Native> guard_;
};

SharedComm* at(Rank& rank, const boot::SharedComm& entry) {
  const node::Offset block = entry.block.load(std::memory_order_relaxed);
  rank.node->heap().join(block);
  return rank.node->heap().at<SharedComm>(block);
}

boot::SharedComm* entry_of(const Rank& rank, Context context) {
  boot::SharedComms& table = rank.job->shared_comms();
  const std::uint32_t used = table.used.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < used; ++i)
    if (table.entries[i].context.load(std::memory_order_acquire) == key_of(context)) return &table.entries[i];
  return nullptr;
}

// With the table locked: one that is free, or null.
boot::SharedComm* free_entry(boot::SharedComms& table) {
  const std::uint32_t used = table.used.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < used; ++i)
    if (table.entries[i].context.load(std::memory_order_relaxed) == 0) return &table.entries[i];
  if (used == boot::shared_comms) return nullptr;
  table.used.store(used + 1, std::memory_order_release);
  return &table.entries[used];
}

bool is_used(const Rank& rank, SharedComm& shared) {
  for (std::uint32_t m = 0; m < shared.members; ++m)
    if (shared.member(m).left.load(std::memory_order_acquire) == 0 && !rank.job->is_gone(shared.member(m).world_rank))
      return true;
  return false;
}

// With the table locked.
void mark_left(const Rank& rank, SharedComm& shared) {
  for (std::uint32_t m = 0; m < shared.members; ++m)
    if (shared.member(m).world_rank == rank.world_rank) shared.member(m).left.store(1, std::memory_order_release);
}

void give_back_unused(Rank& rank, boot::SharedComm& entry) {
  SharedComm& shared = *at(rank, entry);
  if (is_used(rank, shared)) return;
  const node::Offset block = entry.block.load(std::memory_order_relaxed);
  const std::size_t bytes = SharedComm::bytes(static_cast<int>(shared.members));
  entry.context.store(0, std::memory_order_release);
  rank.node->heap().release(block, bytes);
}

}  // namespace

SharedComm* find_shared(Rank& rank, Context context) {
  const boot::SharedComm* const entry = entry_of(rank, context);
  return entry != nullptr ? at(rank, *entry) : nullptr;
}

SharedComm* find_or_make_shared(Rank& rank, Context context, const Group& group) {
  if (SharedComm* const shared = find_shared(rank, context)) return shared;
  const Locked locked(rank);
  if (SharedComm* const shared = find_shared(rank, context)) return shared;
  boot::SharedComm* const entry = free_entry(rank.job->shared_comms());
  if (entry == nullptr) return nullptr;
  node::Heap& heap = rank.node->heap();
  const node::Offset block = heap.allocate(SharedComm::bytes(group.size));
  if (block == node::nowhere) return nullptr;
  SharedComm* const shared = new (heap.at<SharedComm>(block)) SharedComm{};
  shared->members = static_cast<std::uint32_t>(group.size);
  for (std::uint32_t m = 0; m < shared->members; ++m)
    (new (&shared->member(m)) SharedMember{})->world_rank = group.world_rank(static_cast<int>(m));
  entry->block.store(block, std::memory_order_relaxed);
  entry->context.store(key_of(context), std::memory_order_release);
  return shared;
}

bool leave_shared(Rank& rank, Context context) {
  boot::SharedComm* const entry = entry_of(rank, context);
  if (entry == nullptr) return false;
  const Locked locked(rank);
  mark_left(rank, *at(rank, *entry));
  give_back_unused(rank, *entry);
  return true;
}

void tidy_shared(Rank& rank, LeftContexts& left) {
  const Locked locked(rank);
  boot::SharedComms& table = rank.job->shared_comms();
  const std::uint32_t used = table.used.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < used; ++i) {
    boot::SharedComm& entry = table.entries[i];
    const std::uint64_t key = entry.context.load(std::memory_order_relaxed);
    if (key == 0) continue;
    if (left.take(context_of(key))) mark_left(rank, *at(rank, entry));
    give_back_unused(rank, entry);
  }
}

}  // namespace heddle::ft
