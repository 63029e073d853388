#include "mpi/io/begin.hpp"

#include <numeric>
#include <vector>

#include "mpi/coll/internal.hpp"
#include "mpi/io/shared_pointer.hpp"
#include "objects/object/comm.hpp"

namespace heddle::io {

Error begin(Operation& operation, By by, MPI_Offset offset) {
  File& file = operation.file();
  if ((file.amode & MPI_MODE_SEQUENTIAL) && by != By::shared_pointer)
    return fail(MPI_ERR_UNSUPPORTED_OPERATION,
                "%.200s was opened with MPI_MODE_SEQUENTIAL, which allows shared file pointers only",
                file.name.c_str());
  if (Error e = operation.prepare()) return e;
  if (by == By::pointer) offset = file.open->pointer.fetch_add(operation.etypes(), std::memory_order_relaxed);
  if (by == By::shared_pointer) {
    if (Error e = file.open->shared->add(operation.etypes(), offset)) return e;
  }
  return operation.place(offset);
}

Error begin_in_order(Operation& operation) {
  File& file = operation.file();
  Comm& comm = *file.comm;
  if (Error e = operation.prepare()) operation.refuse(e);
  std::vector<std::int64_t> etypes(static_cast<std::size_t>(comm.size));
  const std::int64_t mine = operation.etypes();
  if (Error e = coll::allgather_bytes(comm, &mine, etypes.data(), sizeof mine)) return e;
  struct {
    std::int64_t offset = 0;
    std::int64_t error = MPI_SUCCESS;
  } told;
  if (comm.rank == 0)
    told.error = file.open->shared->add(std::reduce(etypes.begin(), etypes.end()), told.offset).code();
  if (Error e = coll::bcast_bytes(comm, &told, sizeof told, 0)) return e;
  if (told.error != MPI_SUCCESS)
    return fail(static_cast<int>(told.error), "rank 0 cannot access the shared pointer of %.200s", file.name.c_str());
  for (int r = 0; r < comm.rank; ++r) told.offset += etypes[static_cast<std::size_t>(r)];
  if (Error e = operation.place(told.offset)) operation.refuse(e);
  return success;
}

}  // namespace heddle::io
