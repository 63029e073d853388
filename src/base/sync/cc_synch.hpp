// CC-Synch: software combining over a CLH queue.
//
// Source: Fatourou and Kallimanis, PPoPP 2012. As in CLH a thread brings a cell and leaves with its predecessor's
// (see cell_pool.hpp): it puts its operation into the cell that was last in the queue, and its own cell, empty,
// behind it.
//
// Invariants: tail_ is an empty cell. A cell has an operation if and only if it has a next. The combiner is the
// thread that waits on, or has found, the one cell in state `go`.
// Safety: each operation is executed once, one at a time. Progress: starvation free, FIFO in the order of the
// exchange; a combiner executes at most MaxCombine operations and then passes the role on.
// When: as DsmSynch; it has one store less a request and no compare-and-swap, but no lock and unlock beside it.
// In the library: not used; CSync needs the lock that only DsmSynch has. It is measured beside that.
//
// Memory orders: exchange on tail_, acq_rel: publishes that the cell waits, and sees it of the predecessor's, which
// may have been `done` in an earlier use. Store to next, release, its load, acquire: hand the operation to the
// combiner. Store to state, release, its await, acquire: hand results, or the role, back.
#pragma once

#include <utility>

#include "base/platform/platform.hpp"
#include "base/sync/cell_pool.hpp"

namespace heddle::sync {

template <platform::Platform P, class Op, class Run, std::uint32_t MaxCombine = 1024>
class CcSynch {
  using order = platform::order;

  static constexpr std::uint32_t waiting = 0;
  static constexpr std::uint32_t go = 1;
  static constexpr std::uint32_t done = 2;

  struct Cell {
    typename P::template atomic<Cell*> next{nullptr};
    typename P::template atomic<std::uint32_t> state{go};
    typename P::template plain<Op*> op{nullptr};
  };

 public:
  class node {
    friend class CcSynch;
    CellHandle<P, Cell> handle;
  };

  explicit CcSynch(Run run = Run()) : run_(std::move(run)), tail_(cells_.take()) {}

  void apply(node& mine, Op& op) {
    Cell* const fresh = mine.handle.from(cells_);
    fresh->next.store(nullptr, order::relaxed);
    fresh->state.store(waiting, order::relaxed);
    Cell* const cell = tail_.exchange(fresh, order::acq_rel);
    cell->op.set(&op);
    cell->next.store(fresh, order::release);
    mine.handle.replace(cell);
    if (P::await(cell->state, order::acquire, [](std::uint32_t s) { return s != waiting; }) == go) combine(cell);
  }

 private:
  void combine(Cell* cell) {
    for (std::uint32_t combined = 0; combined != MaxCombine; ++combined) {
      Cell* const next = cell->next.load(order::acquire);
      if (next == nullptr) break;
      run_(*cell->op.get());
      cell->state.store(done, order::release);
      cell = next;
    }
    cell->state.store(go, order::release);
  }

  Run run_;
  CellPool<P, Cell> cells_;
  alignas(platform::cache_line) typename P::template atomic<Cell*> tail_;
};

}  // namespace heddle::sync
