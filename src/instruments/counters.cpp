#include "instruments/counters.hpp"

#include <algorithm>

#include "instruments/cells.hpp"
#include "instruments/ticks.hpp"
#include "threads/mutex.hpp"
#include "threads/per_thread.hpp"

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

// Gives the thread's cells back when it ends.
struct Lease {
  std::unique_ptr<Cells> cells;
  bool over = false;
  ~Lease() {
    own_cells = nullptr;
    over = true;
  }
};
thread_local Lease lease;

}  // namespace

Cells* make_cells() {
  if (lease.over) return nullptr;
  lease.cells = std::make_unique<Cells>();
  own_cells = lease.cells.get();
  return own_cells;
}

Cells* cells_of_caller() {
  if (threads::user_level()) return &threads::own<Cells>();
  return own_cells != nullptr ? own_cells : make_cells();
}

}  // namespace detail

Cells::Cells() {
  // Any odd number will do; threads should differ.
  clock.random = static_cast<std::uint32_t>(new_name() * 2654435761U) | 1U;
}

Cells::~Cells() {
  for (const Own& own : own_) own.cell->taken_.store(false, std::memory_order_release);
}

Cell& Cells::look_up(Counters& counters) {
  Recent& recent = recent_[counters.name_ % recent_.size()];
  recent.name = counters.name_;
  const auto known = std::ranges::find(own_, counters.name_, &Own::name);
  if (known != own_.end()) {
    recent.cell = known->cell.get();
    return *recent.cell;
  }
  std::lock_guard guard(counters.mutex_);
  ++counters.threads_;
  // Acquire: what the cell's last owner has counted.
  const auto free = std::ranges::find_if(
      counters.cells_, [](const auto& cell) { return !cell->taken_.load(std::memory_order_acquire); });
  if (free != counters.cells_.end()) {
    own_.push_back({counters.name_, *free});
    (*free)->taken_.store(true, std::memory_order_relaxed);
  } else {
    own_.push_back({counters.name_, counters.cells_.emplace_back(std::make_shared<Cell>())});
  }
  recent.cell = own_.back().cell.get();
  return *recent.cell;
}

}  // namespace heddle::instruments
