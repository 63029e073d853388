// Names of communicators on the wire.
//
// A context names a communicator in the whole job. The member that leads a creation picks one that no other process can
// pick (its own world rank is part of it) and that it never picked before; the messages of the creation carry it to the
// other members. So threads may create communicators at the same time on any communicators, with no agreement, no order
// and no limit on how many are alive.
//
//     63        43 42        7 6         4 3       2 1     0
//     [world rank][counter    ][asked model][promises][plane ]
#pragma once

#include "launch/rank/rank.hpp"
#include "objects/object/comm.hpp"

namespace heddle {

inline constexpr Context world_context_counter = 0;     // MPI_COMM_WORLD: counter 0 of its first process
inline constexpr Context self_context_counter = 1;      // MPI_COMM_SELF: counter 1 of its own rank
inline constexpr Context internal_context_counter = 2;  // the library's own traffic (bootstrap of sessions)
inline constexpr std::uint32_t first_free_context_counter = 8;

inline constexpr int context_counter_bits = 36;

constexpr Context make_context(int world_rank, std::uint64_t counter) {
  return ((static_cast<Context>(world_rank) << context_counter_bits) | counter) * contexts_apart;
}

// The world rank that has made it.
constexpr int maker_of(Context context) { return static_cast<int>(context / contexts_apart >> context_counter_bits); }

// A context that was never used in this job before, for a communicator under the job's model of that number.
inline Context fresh_context(Rank& rank, int asked_model = 0) {
  const auto n = rank.contexts_made.fetch_add(1, std::memory_order_relaxed);
  return make_context(rank.world_rank, first_free_context_counter + n) |
         static_cast<Context>(asked_model) * asked_model_unit;
}

}  // namespace heddle
