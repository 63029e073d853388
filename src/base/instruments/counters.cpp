#include "base/instruments/counters.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>

#include "base/instruments/cells.hpp"
#include "base/instruments/ticks.hpp"
#include "base/platform/thread_end.hpp"
#include "base/threads/mutex.hpp"
#include "base/threads/per_thread.hpp"

namespace heddle::instruments {

// ---- on and off

namespace {

threads::Mutex users_mutex;
int users = 0;

}  // namespace

void switch_on() {
  std::lock_guard guard(users_mutex);
  start_ticks();
  if (++users == 1) detail::counting.store(true, std::memory_order_relaxed);
}

void switch_off() {
  std::lock_guard guard(users_mutex);
  if (--users == 0) detail::counting.store(false, std::memory_order_relaxed);
}

// ---- counters

namespace {

std::uint64_t new_name() {
  static constinit std::atomic<std::uint64_t> names{0};
  return names.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

Counters::Counters() : name_(new_name()) {}

Totals Counters::totals() const {
  std::lock_guard guard(mutex_);
  Totals sum;
  sum.threads = threads_;
  const auto add = [&](const Cell& cell) {
    for (std::size_t i = 0; i < count_kinds; ++i) sum.counts[i] += cell.counts_[i].load(std::memory_order_relaxed);
    for (std::size_t i = 0; i < time_kinds; ++i) sum.ticks[i] += cell.ticks_[i].load(std::memory_order_relaxed);
    sum.largest = std::max(sum.largest, cell.largest_.load(std::memory_order_relaxed));
    sum.recent_largest = std::max(sum.recent_largest, cell.recent_largest_.load(std::memory_order_relaxed));
  };
  add(held_);
  for (const auto& cell : cells_) add(*cell);
  return sum;
}

void Counters::forget_recent() {
  std::lock_guard guard(mutex_);
  held_.recent_largest_.store(0, std::memory_order_relaxed);
  for (const auto& cell : cells_) cell->recent_largest_.store(0, std::memory_order_relaxed);
}

Totals& Totals::operator+=(const Totals& other) {
  for (std::size_t i = 0; i < count_kinds; ++i) counts[i] += other.counts[i];
  for (std::size_t i = 0; i < time_kinds; ++i) ticks[i] += other.ticks[i];
  largest = std::max(largest, other.largest);
  recent_largest = std::max(recent_largest, other.recent_largest);
  threads = std::max(threads, other.threads);
  return *this;
}

// ---- cells of a thread

namespace detail {

constinit thread_local Cells* own_cells = nullptr;

namespace {

// The kernel thread's cache of user-level threads that it has run: a search for their cells costs more than a short
// message.
struct Known {
  threads::Thread thread = nullptr;
  std::uint64_t gone = 0;
  Cells* cells = nullptr;
};
constexpr std::size_t most_known = 64;
constinit thread_local Known* all_known =
    nullptr;  // made for the first: a library that is loaded late has little room here

// Counts destroyed Cells: the place of their thread may be another's now.
constinit std::atomic<std::uint64_t> gone{0};

// Gives back a thread's cells when it ends.
struct Lease {
  std::unique_ptr<Cells> cells;
  std::unique_ptr<Known[]> known;
  ~Lease() {
    own_cells = nullptr;
    all_known = nullptr;
  }
};

std::size_t place_of(threads::Thread thread) {
  const auto address = reinterpret_cast<std::uintptr_t>(thread);
  return (address ^ address >> 12) / 64 % most_known;
}
// Out of line: the search before it may have been continued by another kernel thread, which has memories of its own.
[[gnu::noinline]] void remember(const Known& known) {
  if (all_known == nullptr) {
    Lease& lease = platform::OfThread<Lease>::get();
    lease.known = std::make_unique<Known[]>(most_known);
    all_known = lease.known.get();
  }
  all_known[place_of(known.thread)] = known;
}

}  // namespace

Cells* make_cells() {
  try {
    Lease& lease = platform::OfThread<Lease>::get();
    lease.cells = std::make_unique<Cells>();
    own_cells = lease.cells.get();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  return own_cells;
}

Cells* cells_of_caller() {
  const threads::ThreadRef caller = threads::user_level();
  if (!caller) return own_cells != nullptr ? own_cells : make_cells();
  const std::uint64_t now = gone.load(std::memory_order_relaxed);
  if (all_known != nullptr) [[likely]] {
    const Known& known = all_known[place_of(caller.thread())];
    if (known.thread == caller.thread() && known.gone == now) [[likely]]
      return known.cells;
  }
  try {
    Cells* const cells = &threads::own<Cells>();
    remember({caller.thread(), now, cells});
    return cells;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace detail

Cells::Cells() {
  // Any odd number will do; threads should differ.
  clock.random = static_cast<std::uint32_t>(new_name() * 2654435761U) | 1U;
}

Cells::~Cells() {
  detail::gone.fetch_add(1, std::memory_order_relaxed);
  for (const Own& own : own_) own.cell->taken_.store(false, std::memory_order_release);
}

// A count without memory for its cell is dropped: its operation goes on.
Cell& Cells::look_up(Counters& counters) {
  static Cell uncounted;
  try {
    return look_up_or_make(counters);
  } catch (const std::bad_alloc&) {
    recent_[counters.name_ % recent_.size()] = {};
    return uncounted;
  }
}

Cell& Cells::look_up_or_make(Counters& counters) {
  Recent& recent = recent_[counters.name_ % recent_.size()];
  recent.name = counters.name_;
  const auto known = std::ranges::find(own_, counters.name_, &Own::name);
  if (known != own_.end()) {
    recent.cell = known->cell.get();
    return *recent.cell;
  }
  own_.reserve(own_.size() + 1);
  std::lock_guard guard(counters.mutex_);
  // Acquire: the counts of the cell's last owner.
  const auto free = std::ranges::find_if(
      counters.cells_, [](const auto& cell) { return !cell->taken_.load(std::memory_order_acquire); });
  if (free != counters.cells_.end()) {
    own_.push_back({counters.name_, *free});
    (*free)->taken_.store(true, std::memory_order_relaxed);
  } else {
    own_.push_back({counters.name_, counters.cells_.emplace_back(std::make_shared<Cell>())});
  }
  ++counters.threads_;
  recent.cell = own_.back().cell.get();
  return *recent.cell;
}

}  // namespace heddle::instruments
