// The simulated machine as data: its processors, the distances between them, and the price of what they do.
//
// All times are virtual, in picoseconds. A machine is read from the text that `heddle simulate` makes of machines/*.json,
// where each number has its source.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace heddle::simulator {

using Time = std::uint64_t;  // picoseconds
inline constexpr Time never = ~Time{0};
inline constexpr Time nanosecond = 1000;

// From whom a core gets a cache line, nearest first.
enum class Distance : std::uint8_t { core, cluster, socket, machine, memory };
inline constexpr std::size_t distances = 5;

struct Machine {
  // Processors are numbered along the hierarchy: neighbours share a core, then a cluster (a last-level cache), then a socket.
  unsigned cpus = 2;
  unsigned cpus_per_core = 1;
  unsigned cpus_per_cluster = 2;
  unsigned cpus_per_socket = 2;

  std::array<Time, distances> latency{};  // of a line from there
  unsigned variation = 0;                 // percent by which that differs at most, by the seed
  unsigned cache_lines = 16384;           // that a core keeps
  unsigned prefetched = 2;                // steps that an instruction's prefetcher is ahead
  Time access = 0;                        // a load or store that hits, with the instructions around it
  Time call = 0;                          // entering and leaving a function
  Time atomic = 0;                        // a locked instruction that hits
  Time fence = 0;
  Time pause = 0;         // the instruction of spin loops
  unsigned stores = 56;   // that wait in the store buffer at most
  Time copied_line = 0;   // of a long copy, each line beyond the first, if it is near
  Time tick = 0;          // of the time-stamp counter
  Time clock_read = 0;    // clock_gettime
  Time system_call = 0;   // any that does little
  Time yield = 0;         // that finds no other thread
  Time broadcast = 0;     // membarrier: an interrupt of all cores
  Time wake = 0;          // the call that wakes a thread
  Time wake_latency = 0;  // until a thread that was woken runs on an idle core
  Time switch_context = 0;
  Time slice = 0;        // of a thread, while others wait for its core
  Time granularity = 0;  // after which a thread is preempted by one that wakes
  Time thread_start = 0;

  Distance between(unsigned a, unsigned b) const {
    if (a / cpus_per_core == b / cpus_per_core) return Distance::core;
    if (a / cpus_per_cluster == b / cpus_per_cluster) return Distance::cluster;
    return a / cpus_per_socket == b / cpus_per_socket ? Distance::socket : Distance::machine;
  }
};

// The settings of one run: lines of "name value" in the file that HEDDLE_SIMULATION names.
struct Settings {
  Machine machine;
  std::uint64_t seed = 1;
  std::string report;                              // the file to write; empty: none
  bool fuzz = false;                               // random schedules in place of virtual time's (fuzz.hpp)
  std::uint64_t fuzz_changes = ~std::uint64_t{0};  // change points at most
  bool weak = false;                               // stores leave a core in any order, as on Arm
  bool trace = false;                              // what happened when is a part of the report (trace.hpp)
  Time trace_from = 0;
  Time trace_until = never;
  Time limit = never;  // of virtual time; a run that passes it ends with an error
};

// Ends the process with a message if the file is missing or has a name that is unknown.
Settings read_settings(const char* path);

}  // namespace heddle::simulator
