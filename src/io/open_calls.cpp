// Opening, closing and deleting files, and what can be asked of an open one (MPI 5.0, section 14.2). Reading and writing
// are not there yet.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>

#include "binding/impl.hpp"
#include "coll/internal.hpp"
#include "comm/split.hpp"
#include "io/system_error.hpp"
#include "object/comm.hpp"
#include "object/file.hpp"
#include "object/group.hpp"
#include "object/resolve.hpp"
#include "object/tables.hpp"

namespace heddle {

File* object(MPI_File handle) {
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  return value >= arena::first_user_handle ? live_object<File>(value) : nullptr;
}

namespace mpi {

namespace {

Error check_amode(int amode) {
  constexpr unsigned ways = MPI_MODE_RDONLY | MPI_MODE_RDWR | MPI_MODE_WRONLY;
  if (std::popcount(static_cast<unsigned>(amode) & ways) != 1)
    return fail(MPI_ERR_AMODE, "amode is %d, without exactly one of MPI_MODE_RDONLY, _RDWR and _WRONLY", amode);
  if ((amode & MPI_MODE_RDONLY) && (amode & (MPI_MODE_CREATE | MPI_MODE_EXCL)))
    return fail(MPI_ERR_AMODE, "amode is %d, which creates a file that may only be read", amode);
  if ((amode & MPI_MODE_RDWR) && (amode & MPI_MODE_SEQUENTIAL))
    return fail(MPI_ERR_AMODE, "amode is %d, with both MPI_MODE_RDWR and MPI_MODE_SEQUENTIAL", amode);
  return success;
}

int open_flags(int amode, bool first) {
  int flags = O_CLOEXEC;
  flags |= amode & MPI_MODE_RDWR ? O_RDWR : amode & MPI_MODE_WRONLY ? O_WRONLY : O_RDONLY;
  // The first process makes the file, so that the others find it.
  if (first && (amode & MPI_MODE_CREATE)) flags |= O_CREAT;
  if (first && (amode & MPI_MODE_EXCL)) flags |= O_EXCL;
  return flags;
}

// Opens it on every process, on the first one first. The errno is the largest of all, the same everywhere.
Error open_everywhere(Comm& comm, const char* filename, int amode, int& descriptor, std::uint64_t& error_number) {
  const auto try_open = [&]() -> std::uint64_t {
    descriptor = open(filename, open_flags(amode, comm.rank == 0), 0666);
    struct stat status {};
    if (descriptor < 0 || fstat(descriptor, &status) != 0) return static_cast<std::uint64_t>(errno);
    return S_ISDIR(status.st_mode) ? EISDIR : 0;  // which may be opened for reading
  };
  error_number = comm.rank == 0 ? try_open() : 0;
  if (Error e = coll::bcast_bytes(comm, &error_number, sizeof error_number, 0)) return e;
  if (error_number != 0) return success;
  if (comm.rank != 0) error_number = try_open();
  return coll::allreduce(comm, error_number, coll::ReductionKind::max);
}

void destroy(File& file) {
  if (file.descriptor >= 0) close(file.descriptor);
  file.comm->owner->tables->files.remove(file);
  retire(*file.comm);
  retire(file);
}

}  // namespace

Error File_open(Comm& comm, const char* filename, int amode, const Info* info, MPI_File* fh) {
  if (Error e = check_amode(amode)) return e;
  if (comm.inter) return fail(MPI_ERR_COMM, "comm is an intercommunicator");
  Comm* own = nullptr;
  if (Error e = split(comm, 0, comm.rank, own)) return e;
  File* file = make_object<File>();
  file->comm = own;
  file->amode = amode;
  file->name = filename;
  own->owner->tables->files.add(*file);
  Errhandler* errhandler = current_rank().tables->file_errhandler.get();
  file->errhandler.set(*errhandler);
  release(*errhandler);
  std::uint64_t error_number = 0;
  Error error = open_everywhere(*own, filename, amode, file->descriptor, error_number);
  if (!error && error_number != 0) error = io::fail_system("open", filename, static_cast<int>(error_number));
  if (error) return destroy(*file), error;
  *fh = handle_of<MPI_File>(*file);
  return success;
}

Error File_close(MPI_File* fh) {
  File& file = *object(*fh);
  if (Error e = coll::barrier(*file.comm)) return e;  // nobody uses the name any more
  int error_number = 0;
  if ((file.amode & MPI_MODE_DELETE_ON_CLOSE) && file.comm->rank == 0 && unlink(file.name.c_str()) != 0)
    error_number = errno;
  const std::string name = file.name;
  Errhandler* const errhandler = file.errhandler.get();
  destroy(file);
  *fh = MPI_FILE_NULL;
  if (error_number == 0) return release(*errhandler), success;
  error_detail().errhandler = errhandler;
  return io::fail_system("delete", name.c_str(), error_number);
}

Error File_delete(const char* filename, const Info* info) {
  return unlink(filename) == 0 ? success : io::fail_system("delete", filename, errno);
}

Error File_get_amode(File& fh, int* amode) {
  *amode = fh.amode;
  return success;
}

Error File_get_group(File& fh, MPI_Group* group) {
  *group = handle_of<MPI_Group>(*copy_of(*fh.comm->local_group));
  return success;
}

Error File_get_info(File& fh, MPI_Info* info_used) {
  *info_used = handle_of<MPI_Info>(*make_info(fh.hints));
  return success;
}

Error File_set_info(File& fh, const Info* info) { return success; }

Error File_get_size(File& fh, MPI_Offset* size) {
  struct stat status {};
  if (fstat(fh.descriptor, &status) != 0) return io::fail_system("read the size of", fh.name.c_str(), errno);
  *size = status.st_size;
  return success;
}

// Collective: when it returns anywhere, the size is what was asked for.
Error File_set_size(File& fh, MPI_Offset size) {
  if (fh.amode & MPI_MODE_RDONLY) return fail(MPI_ERR_READ_ONLY, "fh was opened with MPI_MODE_RDONLY");
  std::uint64_t error_number = 0;
  if (fh.comm->rank == 0 && ftruncate(fh.descriptor, size) != 0) error_number = static_cast<std::uint64_t>(errno);
  if (Error e = coll::bcast_bytes(*fh.comm, &error_number, sizeof error_number, 0)) return e;
  if (error_number == 0) return success;
  return io::fail_system("set the size of", fh.name.c_str(), static_cast<int>(error_number));
}

// Collective, also where it fails: the others wait.
Error File_sync(File& fh) {
  const int error_number = fsync(fh.descriptor) == 0 ? 0 : errno;
  if (Error e = coll::barrier(*fh.comm)) return e;
  return error_number == 0 ? success : io::fail_system("sync", fh.name.c_str(), error_number);
}

}  // namespace mpi
}  // namespace heddle
