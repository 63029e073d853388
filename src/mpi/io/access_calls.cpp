// Reading and writing by one process (MPI 5.0, sections 14.4.2 to 14.4.4): by explicit offsets, individual and shared
// pointers.
#include "mpi/io/begin.hpp"
#include "objects/binding/impl.hpp"

namespace heddle::mpi {

namespace {

using io::By;

Error blocking(File& fh, bool write, By by, MPI_Offset offset, const void* buf, MPI_Count count,
               const Datatype& datatype, MPI_Status* status) {
  io::Operation operation(fh, write, {&datatype, const_cast<void*>(buf), count});
  if (Error e = io::begin(operation, by, offset)) return e;
  return io::run_alone(operation, status);
}

Error nonblocking(File& fh, bool write, By by, MPI_Offset offset, const void* buf, MPI_Count count,
                  const Datatype& datatype, MPI_Request* request) {
  auto operation = std::make_unique<io::Operation>(fh, write, io::Buffer{&datatype, const_cast<void*>(buf), count});
  if (Error e = io::begin(*operation, by, offset)) return e;
  return io::start_alone(std::move(operation), request);
}

}  // namespace

Error File_read_at(File& fh, MPI_Offset offset, void* buf, MPI_Count count, const Datatype& datatype,
                   MPI_Status* status) {
  return blocking(fh, false, By::offset, offset, buf, count, datatype, status);
}

Error File_write_at(File& fh, MPI_Offset offset, const void* buf, MPI_Count count, const Datatype& datatype,
                    MPI_Status* status) {
  return blocking(fh, true, By::offset, offset, buf, count, datatype, status);
}

Error File_read(File& fh, void* buf, MPI_Count count, const Datatype& datatype, MPI_Status* status) {
  return blocking(fh, false, By::pointer, 0, buf, count, datatype, status);
}

Error File_write(File& fh, const void* buf, MPI_Count count, const Datatype& datatype, MPI_Status* status) {
  return blocking(fh, true, By::pointer, 0, buf, count, datatype, status);
}

Error File_read_shared(File& fh, void* buf, MPI_Count count, const Datatype& datatype, MPI_Status* status) {
  return blocking(fh, false, By::shared_pointer, 0, buf, count, datatype, status);
}

Error File_write_shared(File& fh, const void* buf, MPI_Count count, const Datatype& datatype, MPI_Status* status) {
  return blocking(fh, true, By::shared_pointer, 0, buf, count, datatype, status);
}

Error File_iread_at(File& fh, MPI_Offset offset, void* buf, MPI_Count count, const Datatype& datatype,
                    MPI_Request* request) {
  return nonblocking(fh, false, By::offset, offset, buf, count, datatype, request);
}

Error File_iwrite_at(File& fh, MPI_Offset offset, const void* buf, MPI_Count count, const Datatype& datatype,
                     MPI_Request* request) {
  return nonblocking(fh, true, By::offset, offset, buf, count, datatype, request);
}

Error File_iread(File& fh, void* buf, MPI_Count count, const Datatype& datatype, MPI_Request* request) {
  return nonblocking(fh, false, By::pointer, 0, buf, count, datatype, request);
}

Error File_iwrite(File& fh, const void* buf, MPI_Count count, const Datatype& datatype, MPI_Request* request) {
  return nonblocking(fh, true, By::pointer, 0, buf, count, datatype, request);
}

Error File_iread_shared(File& fh, void* buf, MPI_Count count, const Datatype& datatype, MPI_Request* request) {
  return nonblocking(fh, false, By::shared_pointer, 0, buf, count, datatype, request);
}

Error File_iwrite_shared(File& fh, const void* buf, MPI_Count count, const Datatype& datatype, MPI_Request* request) {
  return nonblocking(fh, true, By::shared_pointer, 0, buf, count, datatype, request);
}

}  // namespace heddle::mpi
