// How long a waiting thread stays awake before it sleeps: what HEDDLE_WAIT asks for.
//
// Source: Trahay 2009, section 3.3: busy waiting, passive waiting by semaphores, and fixed spin, which polls for a time
// and then sleeps (Karlin, Li, Manasse and Owicki, SOSP 1991, who show that spinning for what a sleep costs is never
// more than twice as dear as knowing the future).
//
//   auto     as the safety model says: ours spins for a time that follows from what a wake-up costs on this machine; the
//            papers' models wait as their papers have it, contending and backing off without end
//   busy     nobody sleeps; with more threads waiting than cores each gives its core away between two looks
//   passive  one thorough look, and then sleep
//   spin     awake for that time after the last thing that moved, then sleep; `spin:50`: for 50 microseconds of its own, without
//            the first few yields in which others ran (patience.hpp)
//
// Whatever the model, every thread that blocks in a call waits so: kernel threads, user-level threads (awake they yield
// in their runtime), those that watch a flag which a communication thread sets, and those in collectives over shared
// memory. MPI_Test and its kind never wait. Of the models whose counters are part of what they are, `usc` is busy by
// definition, and of `ksc` it is only the server that may be told to sleep; suits() has the reasons.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/safety/model.hpp"

namespace heddle::safety {

struct WaitPolicy {
  enum class Kind : std::uint8_t { model, busy, passive, spin };
  Kind kind = Kind::model;
  std::int64_t spin = 0;  // nanoseconds; 0: as the cost of a wake-up has it

  // Also those whose model would not have them sleep.
  bool may_sleep() const { return kind == Kind::passive || kind == Kind::spin; }
};

inline constexpr int longest_spin = 1'000'000;  // microseconds that can be asked for

// False, and `why`, how a sentence goes on that begins with HEDDLE_WAIT=text: it is no policy. Empty: `auto`.
bool parse_wait_policy(std::string_view text, WaitPolicy& policy, std::string& why);

// False, and why, in the same way: this model can't wait so.
bool suits(const WaitPolicy& policy, const Model& model, std::string& why);

// Where the ranks of the job are.
enum class Reach : bool { one_node, several_nodes };

// Nanoseconds to stay awake where a wake-up costs `wake_up` nanoseconds; 0: none.
//
// Of the cost of a wake-up it is a multiple. Who waits for a thread that must be woken itself waits a wake-up and more;
// awake for one alone it would fall asleep as the answer comes, and an exchange of messages would cost two wake-ups
// each way for ever after. Bounded on both sides, for the sake of jobs that start while the machine is loaded: a
// wake-up on a core that is not idle is cheaper than those that come when the load has gone, and behind a queue it is
// mostly the queue that is measured.
//
// Between nodes it is a multiple of that: who sleeps is woken by a thread that sleeps on the network's descriptor, so by two wake-ups, and an
// answer takes the time of two networks' stacks beside those of the threads that wait for these cores.
std::int64_t awake_time(const WaitPolicy& policy, std::int64_t wake_up, Reach reach);

inline constexpr std::int64_t wake_ups_awake = 4;
inline constexpr std::int64_t shortest_awake = 80'000;  // nanoseconds
inline constexpr std::int64_t longest_awake = 200'000;
inline constexpr std::int64_t between_nodes = 5;  // times as long

// For a person: "auto (awake for 160 us; a wake-up costs 40 us here)".
std::string describe(const WaitPolicy& policy, const Model& model, std::int64_t awake, std::int64_t wake_up);

}  // namespace heddle::safety
