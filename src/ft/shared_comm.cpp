#include "ft/shared_comm.hpp"

#include <new>

namespace heddle::ft {

namespace {

// Contexts may be 0 (MPI_COMM_WORLD); an entry that is free is told by 0.
std::uint64_t key_of(Context context) { return context + 1; }

class Locked {
 public:
  explicit Locked(const Rank& rank)
      : guard_(rank.job->shared_comms().locked, static_cast<std::uint32_t>(rank.world_rank),
               [&rank](std::uint32_t other) { return rank.job->is_gone(static_cast<int>(other)); }) {}

 private:
  const sync::RobustGuard<platform::Native> guard_;
};

SharedComm* at(Rank& rank, const boot::SharedComm& entry) {
  return rank.node->heap().at<SharedComm>(entry.block.load(std::memory_order_relaxed));
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

bool is_used(const Rank& rank, SharedComm& shared, const Group& group) {
  for (std::uint32_t m = 0; m < shared.members; ++m)
    if (shared.member(m).left.load(std::memory_order_acquire) == 0 &&
        !rank.job->is_gone(group.world_rank(static_cast<int>(m))))
      return true;
  return false;
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
  for (std::uint32_t m = 0; m < shared->members; ++m) new (&shared->member(m)) SharedMember{};
  entry->block.store(block, std::memory_order_relaxed);
  entry->context.store(key_of(context), std::memory_order_release);
  return shared;
}

void leave_shared(Rank& rank, Context context, const Group& group) {
  boot::SharedComm* entry = entry_of(rank, context);
  if (entry == nullptr) return;
  SharedComm& shared = *at(rank, *entry);
  const Locked locked(rank);
  shared.member(static_cast<std::uint32_t>(group.rank)).left.store(1, std::memory_order_release);
  if (is_used(rank, shared, group)) return;
  const node::Offset block = entry->block.load(std::memory_order_relaxed);
  entry->context.store(0, std::memory_order_release);
  rank.node->heap().release(block, SharedComm::bytes(group.size));
}

}  // namespace heddle::ft
