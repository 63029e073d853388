// Counters of a safety model's actions: the figures of Dang 2017 (Figs. 3, 4 and 9) and Amer 2019 for any model.
//
// A VNI, or a communicator, has Counters. Every thread that uses it adds to a Cell of its own there, so counting shares
// no cache line and needs no atomic operation; a reader sums the cells up. A cell outlives its thread and is given to a
// later one: counts stay. Events with a VNI's lock held go to one more cell, which that lock guards and which is found
// without identifying the thread.
//
// Off, which is the default, all of this costs one branch on a flag that is not written. Counts are exact; times are
// estimates (span.hpp).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/threads/mutex.hpp"

namespace heddle::instruments {

enum class Count : std::uint8_t {
  // Counts of a VNI.
  sent,              // messages sent, by any protocol; those to the rank itself too
  sent_away,         // of these, to ranks of other nodes
  packets,           // that went to other nodes, of one message or several, answers and pieces
  alone,             // of these, with one short message, right behind another packet to the same rank
  waited,            // messages and answers to other nodes that waited in the outbox
  waited_ticks,      // their waiting time, added up
  bytes_away,        // that went to other nodes, pieces and answers included, headers not
  bytes_first_rail,  // of these, by the rail that they went over (network/rails/)
  bytes_second_rail,
  bytes_third_rail,
  bytes_fourth_rail,
  connections,   // ways to ranks of other nodes that were opened: each by the first message to it
  deferred,      // of these, were left to an idle core
  uncredited,    // of these, short ones that had no credit to go eagerly to another node
  received,      // messages that arrived
  unexpected,    // of these, found no receive posted
  buffered,      // bytes of these, if eager from another node
  staged,        // messages that arrived, long ones that went through chunks of shared memory
  polls,         // polls of the network
  empty_polls,   // that found nothing
  acquisitions,  // entries into the critical section
  contended,     // that found the lock taken, and waited
  refused,       // attempts that found it taken, and left
  wasted,        // entries that found nothing to do
  combined,      // operations that a lock holder executed for others
  wakeups,       // blocked threads that were woken
  idle_wakeups,  // woken threads that found nothing to do
  // Counts of a communicator.
  sends,
  receives,
};
inline constexpr std::size_t count_kinds = static_cast<std::size_t>(Count::receives) + 1;
constexpr Count bytes_by_rail(int rail) { return static_cast<Count>(static_cast<int>(Count::bytes_first_rail) + rail); }

// The kinds of a thread's time in the library; no moment counts twice.
enum class Time : std::uint8_t {
  issue,     // starts operations (ISSUE in Dang's figures)
  poll,      // polls, and moves what was found (POLL)
  empty,     // in the critical section with nothing to do (EMPTY CS)
  lock,      // waits for the lock (this and the rest: SYNC)
  combiner,  // waits until another thread has executed its operation
  wait,      // spins for a request, between polls
  blocked,
};
inline constexpr std::size_t time_kinds = static_cast<std::size_t>(Time::blocked) + 1;

namespace detail {
inline constinit std::atomic<bool> counting{false};
}

// True if figures are wanted. For the whole process.
inline bool counting() { return detail::counting.load(std::memory_order_relaxed); }

// Each call of switch_on is taken back by one of switch_off.
void switch_on();
void switch_off();

// The counts of one thread, or of the holders of a VNI. One writes at a time, any thread reads.
class alignas(64) Cell {
 public:
  void add(Count what, std::uint64_t n = 1) { bump(counts_[static_cast<std::size_t>(what)], n); }
  void charge(Time what, std::uint64_t ticks) { bump(ticks_[static_cast<std::size_t>(what)], ticks); }
  // Operations of others that were executed in one acquisition.
  void combined(std::uint64_t n) {
    add(Count::combined, n);
    if (n > largest_.load(std::memory_order_relaxed)) largest_.store(n, std::memory_order_relaxed);
    if (n > recent_largest_.load(std::memory_order_relaxed)) recent_largest_.store(n, std::memory_order_relaxed);
  }

 private:
  friend class Counters;
  friend class Cells;

  // No atomic addition: there is one writer.
  static void bump(std::atomic<std::uint64_t>& cell, std::uint64_t n) {
    cell.store(cell.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }

  std::array<std::atomic<std::uint64_t>, count_kinds> counts_{};
  std::array<std::atomic<std::uint64_t>, time_kinds> ticks_{};
  std::atomic<std::uint64_t> largest_{0};
  std::atomic<std::uint64_t> recent_largest_{0};
  std::atomic<bool> taken_{true};  // by a living thread
};

// The cells of one VNI or communicator, summed up.
struct Totals {
  std::array<std::uint64_t, count_kinds> counts{};
  std::array<std::uint64_t, time_kinds> ticks{};  // of the processor's clock (ticks.hpp)
  std::uint64_t largest = 0;                      // most operations combined in one acquisition
  std::uint64_t recent_largest = 0;               // the same, since it was forgotten
  std::uint64_t threads = 0;                      // that ever counted here

  std::uint64_t operator[](Count what) const { return counts[static_cast<std::size_t>(what)]; }
  std::uint64_t operator[](Time what) const { return ticks[static_cast<std::size_t>(what)]; }
  Totals& operator+=(const Totals& other);
};

class Counters {
 public:
  Counters();
  Counters(const Counters&) = delete;
  Counters& operator=(const Counters&) = delete;

  // The cell of the holder of the lock that guards the owner of the counters; only it may call this. Null while
  // counting is off.
  Cell* held() {
    if (!counting()) [[likely]]
      return nullptr;
    return &held_;
  }

  Totals totals() const;
  // Restarts the search for the recent largest number. A concurrent one may be missed.
  void forget_recent();

 private:
  friend class Cells;

  const std::uint64_t name_;  // never reused: a thread's cache of its cells may outlive the counters
  mutable threads::Mutex mutex_;
  std::vector<std::shared_ptr<Cell>> cells_;
  std::uint64_t threads_ = 0;
  Cell held_;
};

}  // namespace heddle::instruments
