#include "mpi/io/shared_pointer.hpp"

#include <atomic>
#include <new>

#include "base/node/heap.hpp"
#include "messaging/p2p/p2p.hpp"
#include "mpi/coll/internal.hpp"
#include "mpi/rma/create.hpp"
#include "objects/binding/impl.hpp"
#include "objects/object/resolve.hpp"
#include "objects/object/win.hpp"
#include "objects/op/op.hpp"

namespace heddle::io {

namespace {

using Cell = std::atomic<std::int64_t>;
static_assert(Cell::is_always_lock_free);  // processes share it

class InProcess final : public SharedPointer {
 public:
  Error add(std::int64_t etypes, std::int64_t& before) override { return before = cell_.fetch_add(etypes), success; }
  Error set(std::int64_t etypes) override { return cell_ = etypes, success; }

 private:
  Cell cell_{0};
};

// In memory that the ranks of the node share.
class InNode final : public SharedPointer {
 public:
  InNode(node::Heap& heap, node::Offset place) : heap_(heap), place_(place), cell_(*heap.at<Cell>(place)) {}
  ~InNode() override { heap_.release(place_, sizeof(Cell)); }
  Error add(std::int64_t etypes, std::int64_t& before) override { return before = cell_.fetch_add(etypes), success; }
  Error set(std::int64_t etypes) override { return cell_ = etypes, success; }

 private:
  node::Heap& heap_;
  const node::Offset place_;
  Cell& cell_;
};

// At member 0, in a window that the others reach by one-sided operations.
class InWindow final : public SharedPointer {
 public:
  explicit InWindow(MPI_Win win) : win_(win) {}
  Error add(std::int64_t etypes, std::int64_t& before) override { return combine(etypes, MPI_SUM, before); }
  Error set(std::int64_t etypes) override {
    std::int64_t before = 0;
    return combine(etypes, MPI_REPLACE, before);
  }
  Error end() override {
    Error error = mpi::Win_unlock_all(*object(win_));
    if (Error e = rma::destroy(*object(win_)); e && !error) error = e;
    return error;
  }

 private:
  Error combine(std::int64_t value, MPI_Op op, std::int64_t& before) {
    Win& win = *object(win_);
    if (Error e = mpi::Fetch_and_op(&value, &before, *predefined_datatype(MPI_INT64_T), 0, 0, *predefined_op(op), win))
      return e;
    return mpi::Win_flush(0, win);
  }
  const MPI_Win win_;
};

Error make_in_node(Comm& comm, std::unique_ptr<SharedPointer>& made) {
  node::Heap& heap = p2p::shared_memory(*comm.owner);
  node::Offset place = node::nowhere;
  if (comm.rank == 0) {
    place = heap.allocate(sizeof(Cell), comm.size);
    if (place != node::nowhere) new (heap.at<Cell>(place)) Cell(0);
  }
  if (Error e = coll::bcast_bytes(comm, &place, sizeof place, 0)) return e;
  if (place == node::nowhere)
    return fail(MPI_ERR_NO_MEM,
                "no room for a shared file pointer in the job's shared memory, which windows may have used up");
  if (comm.rank != 0) heap.join(place);
  made = std::make_unique<InNode>(heap, place);
  return success;
}

Error make_in_window(Comm& comm, std::unique_ptr<SharedPointer>& made) {
  MPI_Win win = MPI_WIN_NULL;
  const rma::Part part{.flavor = MPI_WIN_FLAVOR_ALLOCATE,
                       .size = comm.rank == 0 ? static_cast<MPI_Aint>(sizeof(Cell)) : 0,
                       .disp_unit = static_cast<MPI_Aint>(sizeof(Cell))};
  if (Error e = rma::create(comm, part, nullptr, &win)) return e;
  made = std::make_unique<InWindow>(win);
  if (Error e = mpi::Win_lock_all(MPI_MODE_NOCHECK, *object(win))) return e;
  if (comm.rank == 0) {
    if (Error e = made->set(0)) return e;
  }
  return coll::barrier(comm);
}

}  // namespace

Error SharedPointer::make(Comm& comm, std::unique_ptr<SharedPointer>& made) {
  if (comm.size == 1) return made = std::make_unique<InProcess>(), success;
  return p2p::is_on_one_node(comm) ? make_in_node(comm, made) : make_in_window(comm, made);
}

}  // namespace heddle::io
