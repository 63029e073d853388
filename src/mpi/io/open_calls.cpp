// Opening, closing and deleting files, and inquiries about an open one (MPI 5.0, section 14.2).
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <string_view>
#include <utility>

#include "messaging/p2p/p2p.hpp"
#include "mpi/coll/internal.hpp"
#include "mpi/comm/split.hpp"
#include "mpi/io/open_file.hpp"
#include "mpi/io/shared_pointer.hpp"
#include "mpi/io/system_error.hpp"
#include "objects/binding/impl.hpp"
#include "objects/object/comm.hpp"
#include "objects/object/faults.hpp"
#include "objects/object/file.hpp"
#include "objects/object/group.hpp"
#include "objects/object/resolve.hpp"
#include "objects/object/tables.hpp"

namespace heddle {

File* object(MPI_File handle) {
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  return value >= arena::first_user_handle ? live_object<File>(value) : nullptr;
}

namespace mpi {

namespace {

// The name without the prefix by which programs tell ROMIO the kind of file system, which we need not know.
const char* path_of(const char* filename) {
  static constexpr std::string_view prefixes[] = {
      "ufs:", "nfs:",   "xfs:", "gpfs:", "lustre:", "panfs:",  "pvfs:",   "pvfs2:",   "hfs:",       "sfs:",
      "pfs:", "piofs:", "ime:", "daos:", "bgl:",    "zoidfs:", "testfs:", "quobyte:", "bglockless:"};
  for (const std::string_view prefix : prefixes)
    if (std::string_view(filename).starts_with(prefix)) return filename + prefix.size();
  return filename;
}

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
    do {
      descriptor = ::open(filename, open_flags(amode, comm.rank == 0), 0666);
    } while (descriptor < 0 && errno == EINTR);
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

// Returns the errno of closing.
int destroy(File& file) {
  const int error_number = file.open != nullptr ? file.open->device.close() : 0;
  delete std::exchange(file.open, nullptr);
  file.comm->owner->tables->files.remove(file);
  retire(*file.comm);
  retire(file);
  return error_number;
}

// A file opened for appending begins at the end.
Error go_to_end(File& file) {
  std::int64_t size = 0;
  if (const int error_number = file.open->device.size(size))
    return io::fail_system("read the size of", file.name.c_str(), error_number);
  file.open->pointer = size;
  return file.comm->rank == 0 ? file.open->shared->set(size) : success;
}

Error open(File& file, const Info* info) {
  Comm& comm = *file.comm;
  std::uint64_t error_number = 0;
  int descriptor = -1;
  const Error error = open_everywhere(comm, file.name.c_str(), file.amode, descriptor, error_number);
  file.open = new io::OpenFile(descriptor, info);
  if (error) return error;
  if (error_number != 0) return io::fail_system("open", file.name.c_str(), static_cast<int>(error_number));
  if (Error e = io::SharedPointer::make(comm, file.open->shared)) return e;
  if (!(file.amode & MPI_MODE_APPEND)) return success;
  const Error at_end = go_to_end(file);
  auto worst = static_cast<std::uint64_t>(at_end.code());
  if (Error e = coll::allreduce(comm, worst, coll::ReductionKind::max)) return e;
  return at_end || worst == MPI_SUCCESS ? at_end : Error(static_cast<int>(worst));
}

// Collective: rank 0 does it, and all have its errno.
template <class Call>
Error at_first(File& fh, const char* what, Call&& call) {
  if (fh.amode & MPI_MODE_RDONLY) return fail(MPI_ERR_READ_ONLY, "fh was opened with MPI_MODE_RDONLY");
  std::uint64_t error_number = 0;
  if (fh.comm->rank == 0) error_number = static_cast<std::uint64_t>(call());
  if (Error e = coll::bcast_bytes(*fh.comm, &error_number, sizeof error_number, 0)) return e;
  if (error_number == 0) return success;
  return io::fail_system(what, fh.name.c_str(), static_cast<int>(error_number));
}

}  // namespace

Error File_open(Comm& comm, const char* filename, int amode, const Info* info, MPI_File* fh) {
  if (Error e = check_amode(amode)) return e;
  if (comm.inter) return fail(MPI_ERR_COMM, "comm is an intercommunicator");
  if (comm.size > 1)
    if (Error e = check_survivable(*comm.owner, "a file of several processes")) return e;
  Comm* own = nullptr;
  if (Error e = split(comm, 0, comm.rank, own)) return e;
  File* file = make_object<File>();
  file->comm = own;
  file->amode = amode;
  file->name = path_of(filename);
  own->owner->tables->files.add(*file);
  Errhandler* errhandler = current_rank().tables->file_errhandler.get();
  file->errhandler.set(*errhandler);
  release(*errhandler);
  if (Error e = open(*file, info)) return (void)destroy(*file), e;
  *fh = handle_of<MPI_File>(*file);
  return success;
}

Error File_close(MPI_File* fh) {
  File& file = *object(*fh);
  const std::atomic<std::uint32_t>& unfinished = file.open->unfinished;
  p2p::wait_until(*file.comm->owner, boot::Wait{}, [&] { return unfinished.load(std::memory_order_acquire) == 0; });
  if (Error e = coll::barrier(*file.comm)) return e;  // no process uses the name any more, nor the shared pointer
  const Error of_pointer = file.open->shared->end();
  int unlinking = 0;
  if ((file.amode & MPI_MODE_DELETE_ON_CLOSE) && file.comm->rank == 0 && unlink(file.name.c_str()) != 0)
    unlinking = errno;
  const std::string name = file.name;
  Errhandler* const errhandler = file.errhandler.get();
  const int closing = destroy(file);
  *fh = MPI_FILE_NULL;
  if (closing == 0 && unlinking == 0 && !of_pointer) return release(*errhandler), success;
  error_detail().errhandler = errhandler;
  if (closing != 0) return io::fail_system("write all of", name.c_str(), closing);
  return unlinking != 0 ? io::fail_system("delete", name.c_str(), unlinking) : of_pointer;
}

Error File_delete(const char* filename, const Info* info) {
  const char* const path = path_of(filename);
  return unlink(path) == 0 ? success : io::fail_system("delete", path, errno);
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
  *info_used = handle_of<MPI_Info>(*make_info(fh.open->hints().entries()));
  return success;
}

Error File_set_info(File& fh, const Info* info) {
  fh.open->set_hints(info);
  return success;
}

Error File_get_size(File& fh, MPI_Offset* size) {
  if (const int error_number = fh.open->device.size(*size))
    return io::fail_system("read the size of", fh.name.c_str(), error_number);
  return success;
}

Error File_set_size(File& fh, MPI_Offset size) {
  if (size < 0) return fail(MPI_ERR_ARG, "size is %lld", static_cast<long long>(size));
  return at_first(fh, "set the size of", [&] { return fh.open->device.set_size(size); });
}

Error File_preallocate(File& fh, MPI_Offset size) {
  if (size < 0) return fail(MPI_ERR_ARG, "size is %lld", static_cast<long long>(size));
  return at_first(fh, "allocate", [&] { return size > 0 ? fh.open->device.allocate(size) : 0; });
}

// Collective, also where it fails: the others wait. All earlier writes of any process are visible when it returns.
Error File_sync(File& fh) {
  int error_number = fh.amode & MPI_MODE_RDONLY ? 0 : fh.open->device.flush();
  if (Error e = coll::barrier(*fh.comm)) return e;
  if (error_number == 0) error_number = fh.open->device.revalidate();
  return error_number == 0 ? success : io::fail_system("sync", fh.name.c_str(), error_number);
}

}  // namespace mpi
}  // namespace heddle
