// MPI_Win_create, _allocate, _allocate_shared, _create_dynamic and _free; attaching memory; inquiries about shared
// memory (MPI 5.0, section 12.2).
#include <algorithm>

#include "mpi/rma/attachments.hpp"
#include "mpi/rma/create.hpp"
#include "mpi/rma/window.hpp"
#include "objects/binding/impl.hpp"
#include "objects/object/resolve.hpp"

namespace heddle {

Win* object(MPI_Win handle) {
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  return value >= arena::first_user_handle ? live_object<Win>(value) : nullptr;
}

namespace mpi {

namespace {

Error allocate(Comm& comm, const rma::Part& part, const Info* info, void* baseptr, MPI_Win* win) {
  if (Error e = rma::create(comm, part, info, win)) return e;
  *static_cast<void**>(baseptr) = object(*win)->predefined.base;
  return success;
}

bool asks_for_gaps(const Info* info) { return value_of(info, "alloc_shared_noncontig") == "true"; }

}  // namespace

Error Win_create(void* base, MPI_Aint size, MPI_Count disp_unit, const Info* info, Comm& comm, MPI_Win* win) {
  return rma::create(comm, {MPI_WIN_FLAVOR_CREATE, base, size, disp_unit}, info, win);
}

Error Win_allocate(MPI_Aint size, MPI_Count disp_unit, const Info* info, Comm& comm, void* baseptr, MPI_Win* win) {
  return allocate(comm, {MPI_WIN_FLAVOR_ALLOCATE, nullptr, size, disp_unit}, info, baseptr, win);
}

Error Win_allocate_shared(MPI_Aint size, MPI_Count disp_unit, const Info* info, Comm& comm, void* baseptr,
                          MPI_Win* win) {
  return allocate(comm, {MPI_WIN_FLAVOR_SHARED, nullptr, size, disp_unit, !asks_for_gaps(info)}, info, baseptr, win);
}

Error Win_create_dynamic(const Info* info, Comm& comm, MPI_Win* win) {
  return rma::create(comm, {.flavor = MPI_WIN_FLAVOR_DYNAMIC}, info, win);
}

Error Win_free(MPI_Win* win) {
  Win& it = *object(*win);
  if (Error e = it.window->epochs.must_be_closed()) return e;
  if (Error e = it.attributes.remove_all(it.handle)) return e;
  const Error error = rma::destroy(it);
  *win = MPI_WIN_NULL;
  return error;
}

Error Win_attach(Win& win, void* base, MPI_Aint size) {
  if (!rma::is_dynamic(win)) return fail(MPI_ERR_RMA_FLAVOR, "win was not made by MPI_Win_create_dynamic");
  return rma::attach(*win.window, base, size);
}

Error Win_detach(Win& win, const void* base) {
  if (!rma::is_dynamic(win)) return fail(MPI_ERR_RMA_FLAVOR, "win was not made by MPI_Win_create_dynamic");
  return rma::detach(*win.window, base);
}

// Memory that this process cannot load from and store to has no size here. MPI_PROC_NULL asks for the first member that
// has any.
Error Win_shared_query(Win& win, int rank, MPI_Aint* size, CountOut disp_unit, void* baseptr) {
  if (rma::is_dynamic(win)) return fail(MPI_ERR_RMA_FLAVOR, "win was made by MPI_Win_create_dynamic");
  const std::vector<rma::Target>& targets = win.window->targets;
  if (rank == MPI_PROC_NULL) {
    const auto has_memory = [](const rma::Target& target) { return target.size > 0; };
    const auto first = std::find_if(targets.begin(), targets.end(), has_memory);
    rank = first == targets.end() ? 0 : static_cast<int>(first - targets.begin());
  }
  if (Error e = rma::check_rank(win, "rank", rank)) return e;
  const rma::Target& target = targets[static_cast<std::size_t>(rank)];
  const bool near = target.process == boot::this_process;
  *size = near ? target.size : 0;
  disp_unit.set(target.disp_unit);
  *static_cast<void**>(baseptr) = near ? reinterpret_cast<void*>(target.base) : nullptr;
  return success;
}

}  // namespace mpi
}  // namespace heddle
