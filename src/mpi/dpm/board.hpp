// The job's board (launch/boot/job.hpp): open ports and published names. All ranks of the job see it, also those of spawned
// worlds; a rank's entries go with its last finalization.
#pragma once

#include <span>

#include "launch/boot/job.hpp"
#include "objects/object/comm.hpp"
#include "objects/object/error.hpp"

namespace heddle::dpm {

// The job's board with its lock held. A rank that dies with the lock ends the job, so no rank waits for ever.
class LockedBoard {
 public:
  explicit LockedBoard(boot::Board& board);
  LockedBoard(const LockedBoard&) = delete;
  LockedBoard& operator=(const LockedBoard&) = delete;

  boot::Board* operator->() const { return &board_; }
  std::span<std::atomic<std::uint64_t>> ports() const { return {board_.ports, board_.ports_used.load()}; }
  std::span<boot::PublishedName> names() const { return {board_.names, board_.names_used.load()}; }
  // Another entry, null: there are too many.
  std::atomic<std::uint64_t>* new_port();
  boot::PublishedName* new_name();

 private:
  boot::Board& board_;
  const sync::RobustGuard<platform::Native> guard_;
};

// Null, with the sentence of an error of class MPI_ERR_UNSUPPORTED_OPERATION: the ranks are on several nodes that share no
// memory.
boot::Board* board_of(const Rank& rank);

// Ports are named by a context of the rank that has opened them. Any thread.
bool add_port(boot::Board& board, Context port);  // false: there are too many
void remove_port(boot::Board& board, Context port);
bool is_open(const boot::Board& board, Context port);

// All that this rank has put there.
void withdraw_all(const Rank& rank);

}  // namespace heddle::dpm
