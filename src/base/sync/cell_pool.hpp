// Cells that outlive the handles that use them: for algorithms whose queue cells move from thread to thread.
//
// In CLH and CC-Synch a thread leaves with another cell than it came with, and its successor still polls the cell it
// came with. So the cells belong to the lock, not to its callers: a handle takes one when it is first used and gives
// back the one that it owns when it ends. Cells are cache lines of their own and are reused; there are never more than
// handles in use at one time, plus those the lock itself keeps. They are freed with the pool, which must outlive the
// handles.
//
// Progress: a short spin lock guards the list. It is passed at the first and the last use of a handle only, so keep
// handles for long (for example in thread-private data) where that matters.
//
// Memory orders: those of TtasLock; the list itself is plain.
#pragma once

#include <utility>

#include "base/platform/platform.hpp"
#include "base/sync/ttas_lock.hpp"

namespace heddle::sync {

template <platform::Platform P, class Cell>
class CellPool {
 public:
  CellPool() = default;
  CellPool(const CellPool&) = delete;
  CellPool& operator=(const CellPool&) = delete;
  ~CellPool() {
    for (Slot* slot = all_.get(); slot != nullptr;) delete std::exchange(slot, slot->made_before);
  }

  Cell* take() {
    Guard guard(lock_);
    Slot* slot = free_.get();
    if (slot == nullptr) {
      slot = new Slot;
      slot->made_before = all_.get();
      all_.set(slot);
    } else {
      free_.set(slot->next_free.get());
    }
    return &slot->cell;
  }

  void give_back(Cell* cell) {
    Slot* const slot = reinterpret_cast<Slot*>(cell);  // its first member
    Guard guard(lock_);
    slot->next_free.set(free_.get());
    free_.set(slot);
  }

 private:
  struct alignas(platform::cache_line) Slot {
    Cell cell;
    typename P::template plain<Slot*> next_free{nullptr};
    Slot* made_before = nullptr;
  };

  TtasLock<P> lock_;
  typename P::template plain<Slot*> free_{nullptr};
  typename P::template plain<Slot*> all_{nullptr};
};

// A thread's claim on one cell of a pool.
template <platform::Platform P, class Cell>
class CellHandle {
 public:
  CellHandle() = default;
  CellHandle(const CellHandle&) = delete;
  CellHandle& operator=(const CellHandle&) = delete;
  ~CellHandle() {
    if (cell_ != nullptr) home_->give_back(cell_);
  }

  Cell* from(CellPool<P, Cell>& pool) {
    if (cell_ == nullptr) {
      cell_ = pool.take();
      home_ = &pool;
    }
    return cell_;
  }
  Cell* get() const { return cell_; }
  void replace(Cell* other) { cell_ = other; }

 private:
  Cell* cell_ = nullptr;
  CellPool<P, Cell>* home_ = nullptr;
};

}  // namespace heddle::sync
