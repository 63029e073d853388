// Reading and writing by all processes of a file together (MPI 5.0, sections 14.4.2 to 14.4.5): blocking, nonblocking,
// and in two calls. A process with wrong arguments takes part, too, since the others wait for it.
#include <mutex>
#include <utility>

#include "mpi/io/begin.hpp"
#include "objects/binding/impl.hpp"
#include "objects/object/resolve.hpp"

namespace heddle::mpi {

namespace {

using io::By;
using io::Operation;

Error blocking(File& fh, bool write, By by, MPI_Offset offset, const void* buf, MPI_Count count,
               const Datatype& datatype, MPI_Status* status) {
  Operation operation(fh, write, {&datatype, const_cast<void*>(buf), count});
  if (Error e = io::begin(operation, by, offset)) operation.refuse(e);
  return io::run_together(operation, status);
}

Error in_order(File& fh, bool write, const void* buf, MPI_Count count, const Datatype& datatype, MPI_Status* status) {
  Operation operation(fh, write, {&datatype, const_cast<void*>(buf), count});
  if (Error e = io::begin_in_order(operation)) return e;
  return io::run_together(operation, status);
}

Error nonblocking(File& fh, bool write, By by, MPI_Offset offset, const void* buf, MPI_Count count,
                  const Datatype& datatype, MPI_Request* request) {
  auto operation = std::make_unique<Operation>(fh, write, io::Buffer{&datatype, const_cast<void*>(buf), count});
  if (Error e = io::begin(*operation, by, offset)) operation->refuse(e);
  return io::start_together(std::move(operation), request);
}

// ---- In two calls ----

Error keep(File& fh, bool write, std::unique_ptr<Operation> operation) {
  io::OpenFile& file = *fh.open;
  MPI_Request request = MPI_REQUEST_NULL;
  if (Error e = io::start_together(std::move(operation), &request)) return e;
  const std::lock_guard guard(file.split_mutex);
  file.split = object(request);
  file.split_writes = write;
  return success;
}

Error check_none(File& fh) {
  const std::lock_guard guard(fh.open->split_mutex);
  if (fh.open->split == nullptr) return success;
  return fail(MPI_ERR_IO, "%.200s has a split collective operation that has not ended", fh.name.c_str());
}

Error begin_split(File& fh, bool write, By by, MPI_Offset offset, const void* buf, MPI_Count count,
                  const Datatype& datatype) {
  if (Error e = check_none(fh)) return e;
  auto operation = std::make_unique<Operation>(fh, write, io::Buffer{&datatype, const_cast<void*>(buf), count});
  if (Error e = io::begin(*operation, by, offset)) operation->refuse(e);
  return keep(fh, write, std::move(operation));
}

Error begin_split_in_order(File& fh, bool write, const void* buf, MPI_Count count, const Datatype& datatype) {
  if (Error e = check_none(fh)) return e;
  auto operation = std::make_unique<Operation>(fh, write, io::Buffer{&datatype, const_cast<void*>(buf), count});
  if (Error e = io::begin_in_order(*operation)) return e;
  return keep(fh, write, std::move(operation));
}

Error end_split(File& fh, bool write, MPI_Status* status) {
  MPI_Request request = MPI_REQUEST_NULL;
  {
    const std::lock_guard guard(fh.open->split_mutex);
    if (fh.open->split == nullptr || fh.open->split_writes != write)
      return fail(MPI_ERR_IO, "%.200s has no split collective %s that could end here", fh.name.c_str(),
                  write ? "write" : "read");
    request = handle_of<MPI_Request>(*std::exchange(fh.open->split, nullptr));
  }
  return Wait(&request, status);
}

}  // namespace

Error File_read_at_all(File& fh, MPI_Offset offset, void* buf, MPI_Count count, const Datatype& datatype,
                       MPI_Status* status) {
  return blocking(fh, false, By::offset, offset, buf, count, datatype, status);
}

Error File_write_at_all(File& fh, MPI_Offset offset, const void* buf, MPI_Count count, const Datatype& datatype,
                        MPI_Status* status) {
  return blocking(fh, true, By::offset, offset, buf, count, datatype, status);
}

Error File_read_all(File& fh, void* buf, MPI_Count count, const Datatype& datatype, MPI_Status* status) {
  return blocking(fh, false, By::pointer, 0, buf, count, datatype, status);
}

Error File_write_all(File& fh, const void* buf, MPI_Count count, const Datatype& datatype, MPI_Status* status) {
  return blocking(fh, true, By::pointer, 0, buf, count, datatype, status);
}

Error File_read_ordered(File& fh, void* buf, MPI_Count count, const Datatype& datatype, MPI_Status* status) {
  return in_order(fh, false, buf, count, datatype, status);
}

Error File_write_ordered(File& fh, const void* buf, MPI_Count count, const Datatype& datatype, MPI_Status* status) {
  return in_order(fh, true, buf, count, datatype, status);
}

Error File_iread_at_all(File& fh, MPI_Offset offset, void* buf, MPI_Count count, const Datatype& datatype,
                        MPI_Request* request) {
  return nonblocking(fh, false, By::offset, offset, buf, count, datatype, request);
}

Error File_iwrite_at_all(File& fh, MPI_Offset offset, const void* buf, MPI_Count count, const Datatype& datatype,
                         MPI_Request* request) {
  return nonblocking(fh, true, By::offset, offset, buf, count, datatype, request);
}

Error File_iread_all(File& fh, void* buf, MPI_Count count, const Datatype& datatype, MPI_Request* request) {
  return nonblocking(fh, false, By::pointer, 0, buf, count, datatype, request);
}

Error File_iwrite_all(File& fh, const void* buf, MPI_Count count, const Datatype& datatype, MPI_Request* request) {
  return nonblocking(fh, true, By::pointer, 0, buf, count, datatype, request);
}

Error File_read_at_all_begin(File& fh, MPI_Offset offset, void* buf, MPI_Count count, const Datatype& datatype) {
  return begin_split(fh, false, By::offset, offset, buf, count, datatype);
}

Error File_write_at_all_begin(File& fh, MPI_Offset offset, const void* buf, MPI_Count count, const Datatype& datatype) {
  return begin_split(fh, true, By::offset, offset, buf, count, datatype);
}

Error File_read_all_begin(File& fh, void* buf, MPI_Count count, const Datatype& datatype) {
  return begin_split(fh, false, By::pointer, 0, buf, count, datatype);
}

Error File_write_all_begin(File& fh, const void* buf, MPI_Count count, const Datatype& datatype) {
  return begin_split(fh, true, By::pointer, 0, buf, count, datatype);
}

Error File_read_ordered_begin(File& fh, void* buf, MPI_Count count, const Datatype& datatype) {
  return begin_split_in_order(fh, false, buf, count, datatype);
}

Error File_write_ordered_begin(File& fh, const void* buf, MPI_Count count, const Datatype& datatype) {
  return begin_split_in_order(fh, true, buf, count, datatype);
}

Error File_read_at_all_end(File& fh, void*, MPI_Status* status) { return end_split(fh, false, status); }
Error File_write_at_all_end(File& fh, const void*, MPI_Status* status) { return end_split(fh, true, status); }
Error File_read_all_end(File& fh, void*, MPI_Status* status) { return end_split(fh, false, status); }
Error File_write_all_end(File& fh, const void*, MPI_Status* status) { return end_split(fh, true, status); }
Error File_read_ordered_end(File& fh, void*, MPI_Status* status) { return end_split(fh, false, status); }
Error File_write_ordered_end(File& fh, const void*, MPI_Status* status) { return end_split(fh, true, status); }

}  // namespace heddle::mpi
