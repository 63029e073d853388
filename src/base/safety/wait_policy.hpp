// The spin budget of a waiting thread before it sleeps: HEDDLE_WAIT.
//
// Source: Trahay 2009, section 3.3: busy waiting, passive waiting by semaphores, and fixed spin, which polls for a time
// and then sleeps (Karlin, Li, Manasse and Owicki, SOSP 1991, who show that spinning for the cost of a sleep costs at
// most twice the optimum).
//
//   auto     the safety model decides: ours spins for a time that follows from the cost of a wake-up on this machine; the
//            papers' models wait as their papers have it, contending and backing off without end
//   busy     no thread sleeps; with more waiting threads than cores each yields between two polls
//   passive  one thorough poll, and then sleep
//   spin     spin for that time after the last progress, then sleep; `spin:50`: for 50 microseconds of its own, without
//            the first few yields in which others ran (patience.hpp)
//
// Whatever the model, every thread that blocks in a call waits so: kernel threads, user-level threads (spinning ones
// yield in their runtime), those that watch a flag which a communication thread sets, and those in collectives over
// shared memory. MPI_Test and its kind never wait. Among the models that define their counters, `usc` is busy by
// definition, and for `ksc` only the server may sleep; suits() has the reasons.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/safety/model.hpp"

namespace heddle::safety {

struct WaitPolicy {
  enum class Kind : std::uint8_t { model, busy, passive, spin };
  Kind kind = Kind::model;
  std::int64_t spin = 0;  // nanoseconds; 0: derived from the cost of a wake-up

  // Also for models whose own policy never sleeps.
  bool may_sleep() const { return kind == Kind::passive || kind == Kind::spin; }
};

inline constexpr int longest_spin = 1'000'000;  // microseconds that can be asked for

// Empty: `auto`. A failure's text is the rest of a sentence that begins with HEDDLE_WAIT=text.
Result<WaitPolicy> parse_wait_policy(std::string_view text);

// A failure, in the same form: this model can't wait so.
Result<void> suits(const WaitPolicy& policy, const Model& model);

// The placement of the job's ranks.
enum class Reach : bool { one_node, several_nodes };

// Nanoseconds to spin where a wake-up costs `wake_up` nanoseconds; 0: none.
//
// It is a multiple of the cost of a wake-up. A thread that waits for a thread that must itself be woken waits a wake-up
// and more; with a budget of just one it would block as the answer comes, and an exchange of messages would cost two
// wake-ups each way for ever after. Bounded on both sides, for jobs that start while the machine is loaded: a wake-up
// on a core that is not idle is cheaper than those after the load has gone, and behind a queue the measurement is
// mostly that of the queue.
//
// Between nodes it is a multiple of that: a blocked thread is woken by a thread that blocks on the network's
// descriptor, so by two wake-ups, and an answer takes the time of two networks' stacks beside those of the threads that
// wait for these cores.
std::int64_t spin_time(const WaitPolicy& policy, std::int64_t wake_up, Reach reach);

inline constexpr std::int64_t wake_ups_per_spin = 4;
inline constexpr std::int64_t shortest_spin_budget = 80'000;  // nanoseconds
inline constexpr std::int64_t longest_spin_budget = 200'000;
inline constexpr std::int64_t between_nodes = 5;  // times as long

// Between nodes a poll usually is a system call: it takes as long as 2 to this power polls of memory, so that much
// fewer polls come before a yield. The nodes' ranks may share cores that each counts as its own (several containers on
// a machine): six ranks of three such nodes on two cores reduce in 3.3 s instead of 5.5 (coll.reduction, libfabric).
inline constexpr std::uint32_t poll_cost_between_nodes = 4;

// For a person: "auto (spinning for 160 us; a wake-up costs 40 us here)".
std::string describe(const WaitPolicy& policy, const Model& model, std::int64_t spinning, std::int64_t wake_up);

}  // namespace heddle::safety
