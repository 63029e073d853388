#include "mpi/dpm/board.hpp"

#include <algorithm>

#include "launch/rank/rank.hpp"
#include "objects/object/context.hpp"

namespace heddle::dpm {

LockedBoard::LockedBoard(boot::Board& board)
    : board_(board),
      guard_(board.locked, static_cast<std::uint32_t>(current_rank().world_rank),
             [](std::uint32_t rank) { return current_rank().job->is_gone(static_cast<int>(rank)); }) {}

boot::Board* board_of(const Rank& rank) {
  boot::Board* const board = rank.job->board();
  if (board == nullptr)
    (void)fail(MPI_ERR_UNSUPPORTED_OPERATION,
               "ports and names are not supported yet where another launcher has started the job on several nodes; "
               "start it on one");
  return board;
}

std::atomic<std::uint64_t>* LockedBoard::new_port() {
  for (std::atomic<std::uint64_t>& entry : ports())
    if (entry.load(std::memory_order_relaxed) == 0) return &entry;
  const std::uint32_t used = board_.ports_used.load();
  if (used == boot::open_ports) return nullptr;
  board_.ports_used.store(used + 1);
  return &board_.ports[used];
}

boot::PublishedName* LockedBoard::new_name() {
  for (boot::PublishedName& entry : names())
    if (entry.owner == 0) return &entry;
  const std::uint32_t used = board_.names_used.load();
  if (used == boot::published_names) return nullptr;
  board_.names_used.store(used + 1);
  return &board_.names[used];
}

bool add_port(boot::Board& board, Context port) {
  LockedBoard locked(board);
  std::atomic<std::uint64_t>* const entry = locked.new_port();
  if (entry == nullptr) return false;
  entry->store(port, std::memory_order_release);
  return true;
}

void remove_port(boot::Board& board, Context port) {
  const LockedBoard locked(board);
  for (std::atomic<std::uint64_t>& entry : locked.ports())
    if (entry.load(std::memory_order_relaxed) == port) entry.store(0, std::memory_order_release);
}

bool is_open(const boot::Board& board, Context port) {
  const std::uint32_t used = board.ports_used.load();
  return std::any_of(board.ports, board.ports + used, [port](const std::atomic<std::uint64_t>& entry) {
    return entry.load(std::memory_order_acquire) == port;
  });
}

void withdraw_all(const Rank& rank) {
  boot::Board* const board = rank.job->board();
  if (board == nullptr || (board->ports_used.load() == 0 && board->names_used.load() == 0)) return;
  const LockedBoard locked(*board);
  for (std::atomic<std::uint64_t>& entry : locked.ports()) {
    const Context port = entry.load(std::memory_order_relaxed);
    if (port != 0 && maker_of(port) == rank.world_rank) entry.store(0, std::memory_order_release);
  }
  for (boot::PublishedName& name : locked.names())
    if (name.owner == rank.world_rank + 1) name.owner = 0;
}

}  // namespace heddle::dpm
