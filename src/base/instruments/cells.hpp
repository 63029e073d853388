// A thread's own cells, and the state of its clock (span.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/instruments/counters.hpp"
#include "base/threads/thread_ref.hpp"

namespace heddle::instruments {

// The spans being timed on a thread. Spans nest; while an inner one runs, the clock of the outer one stands still.
struct Clock {
  std::uint32_t skip = 1;   // spans until the next for which the clock is read: the next one while any is timed
  std::uint32_t rest = 1;   // while any is timed: spans until the next that is chosen
  std::uint32_t depth = 0;  // of open spans that the clock was read for
  std::uint32_t random;     // state of the generator that chooses; never 0
  std::uint64_t mark = 0;   // when the innermost of them began or went on
  Cell* cell = nullptr;     // of the innermost; null: it was not chosen
  Time what = Time::issue;  // of the innermost
};

class Cells {
 public:
  Cells();
  ~Cells();
  Cells(const Cells&) = delete;
  Cells& operator=(const Cells&) = delete;

  Cell& of(Counters& counters) {
    const Recent& recent = recent_[counters.name_ % recent_.size()];
    return recent.name == counters.name_ ? *recent.cell : look_up(counters);
  }

  Clock clock;

 private:
  struct Recent {
    std::uint64_t name = 0;  // no counters have this one
    Cell* cell = nullptr;
  };
  struct Own {
    std::uint64_t name;
    std::shared_ptr<Cell> cell;
  };

  [[gnu::noinline]] Cell& look_up(Counters& counters);
  Cell& look_up_or_make(Counters& counters);

  std::array<Recent, 16> recent_;
  std::vector<Own> own_;
};

namespace detail {
[[gnu::tls_model("initial-exec")]] extern constinit thread_local Cells* own_cells;
// Null: there is no memory for them.
[[gnu::cold, gnu::noinline]] Cells* make_cells();
// Where there are user-level threads.
[[gnu::noinline]] Cells* cells_of_caller();
}  // namespace detail

inline Cells* cells_of_thread() {
  if (threads::user_level_possible()) [[unlikely]]
    return detail::cells_of_caller();
  Cells* cells = detail::own_cells;
  return cells != nullptr ? cells : detail::make_cells();
}

// The calling thread's cell; null while counting is off.
inline Cell* own_cell(Counters& counters) {
  if (!counting()) [[likely]]
    return nullptr;
  Cells* cells = cells_of_thread();
  return cells != nullptr ? &cells->of(counters) : nullptr;
}

// Adds to the calling thread's count, if counting is on.
inline void count(Counters& counters, Count what, std::uint64_t n = 1) {
  if (Cell* cell = own_cell(counters)) [[unlikely]]
    cell->add(what, n);
}

// The same, by the holder of the lock that guards the cell.
[[gnu::always_inline]] inline void count_held(Counters& counters, Count what, std::uint64_t n = 1) {
  if (Cell* cell = counters.held()) [[unlikely]]
    cell->add(what, n);
}

}  // namespace heddle::instruments
