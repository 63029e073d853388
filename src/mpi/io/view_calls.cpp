// Views and file pointers (MPI 5.0, sections 14.3 and 14.4), sizes of types in the file (14.5.1) and atomicity
// (14.6.1).
#include <unistd.h>

#include <cstring>

#include "mpi/coll/internal.hpp"
#include "mpi/io/open_file.hpp"
#include "mpi/io/shared_pointer.hpp"
#include "mpi/io/system_error.hpp"
#include "objects/binding/impl.hpp"
#include "objects/datatype/name.hpp"
#include "objects/object/comm.hpp"
#include "objects/object/resolve.hpp"

namespace heddle::mpi {

namespace {

// For a collective call that members may find wrong for reasons of their own: it fails for all or for none.
Error agree(File& fh, Error mine) {
  auto worst = static_cast<std::uint64_t>(mine.code());
  if (Error e = coll::allreduce(*fh.comm, worst, coll::ReductionKind::max)) return e;
  if (mine || worst == MPI_SUCCESS) return mine;
  return fail(static_cast<int>(worst), "another process of %.200s refuses the call", fh.name.c_str());
}

Error refuse_sequential(const File& fh) {
  if (!(fh.amode & MPI_MODE_SEQUENTIAL)) return success;
  return fail(MPI_ERR_UNSUPPORTED_OPERATION, "%.200s was opened with MPI_MODE_SEQUENTIAL", fh.name.c_str());
}

Error make_view(File& fh, MPI_Offset disp, const Datatype& etype, const Datatype& filetype, const char* datarep,
                std::shared_ptr<const io::View>& view) {
  if (disp == MPI_DISPLACEMENT_CURRENT && (fh.amode & MPI_MODE_SEQUENTIAL)) {
    MPI_Offset etypes = 0;
    if (Error e = fh.open->shared->add(0, etypes)) return e;
    const auto now = fh.open->view();
    disp = now->offset_of(etypes * now->etype_size());
  }
  if (disp < 0) return fail(MPI_ERR_ARG, "disp is %lld", static_cast<long long>(disp));
  if (!etype.committed) return fail(MPI_ERR_TYPE, "etype %s is not committed", datatype::label(etype));
  if (!filetype.committed) return fail(MPI_ERR_TYPE, "filetype %s is not committed", datatype::label(filetype));
  auto representation = io::find_representation(datarep);
  if (representation == nullptr)
    return fail(MPI_ERR_UNSUPPORTED_DATAREP, "there is no data representation \"%.100s\"", datarep);
  return io::View::make(disp, etype, filetype, std::move(representation), !(fh.amode & MPI_MODE_RDONLY), view);
}

// The target of a seek.
Error find(File& fh, MPI_Offset offset, int whence, MPI_Offset current, MPI_Offset& target) {
  MPI_Offset from = 0;
  if (whence == MPI_SEEK_CUR) {
    from = current;
  } else if (whence == MPI_SEEK_END) {
    if (const int error_number = fh.open->device.size(from))
      return io::fail_system("read the size of", fh.name.c_str(), error_number);
    from = fh.open->view()->etypes_before(from);
  } else if (whence != MPI_SEEK_SET) {
    return fail(MPI_ERR_ARG, "whence is %d, neither MPI_SEEK_SET, MPI_SEEK_CUR nor MPI_SEEK_END", whence);
  }
  if (!__builtin_add_overflow(from, offset, &target) && target >= 0) return success;
  return fail(MPI_ERR_ARG, "a seek by %lld from etype %lld does not lead into the file", static_cast<long long>(offset),
              static_cast<long long>(from));
}

// Rank 0 does it between the last use of the old pointer and the first use of the new one by any process.
template <class Set>
Error set_shared(File& fh, Set&& set) {
  if (Error e = coll::barrier(*fh.comm)) return e;
  return agree(fh, fh.comm->rank == 0 ? set() : success);
}

// A handle of the program's own to a type that it gave.
Error copy_handle(const Datatype& type, MPI_Datatype* handle) {
  if (!type.predefined) return Type_dup(type, handle);
  *handle = handle_of<MPI_Datatype>(type);
  return success;
}

}  // namespace

Error File_set_view(File& fh, MPI_Offset disp, const Datatype& etype, const Datatype& filetype, const char* datarep,
                    const Info* info) {
  std::shared_ptr<const io::View> view;
  if (Error e = agree(fh, make_view(fh, disp, etype, filetype, datarep, view))) return e;
  std::uint64_t sizes[] = {static_cast<std::uint64_t>(view->etype_size()),
                           ~static_cast<std::uint64_t>(view->etype_size())};
  if (Error e = coll::allreduce(*fh.comm, sizes, 2, coll::ReductionKind::max)) return e;
  if (sizes[0] != ~sizes[1])
    return fail(MPI_ERR_NOT_SAME, "the processes of %.200s give etypes of different sizes", fh.name.c_str());
  if (Error e = set_shared(fh, [&] { return fh.open->shared->set(0); })) return e;
  fh.open->set_hints(info);
  fh.open->set_view(std::move(view));
  fh.open->pointer = 0;
  return success;
}

Error File_get_view(File& fh, MPI_Offset* disp, MPI_Datatype* etype, MPI_Datatype* filetype, char* datarep) {
  const auto view = fh.open->view();
  *disp = view->displacement();
  const std::string& name = view->representation().name();
  std::memcpy(datarep, name.c_str(), name.size() + 1);
  if (Error e = copy_handle(view->etype(), etype)) return e;
  return copy_handle(view->filetype(), filetype);
}

Error File_get_type_extent(File& fh, const Datatype& datatype, CountOut extent) {
  datatype::Reference type;
  if (Error e = io::in_file(fh.open->view()->representation(), datatype, type)) return e;
  extent.set(type->extent);
  return success;
}

Error File_seek(File& fh, MPI_Offset offset, int whence) {
  if (Error e = refuse_sequential(fh)) return e;
  MPI_Offset target = 0;
  if (Error e = find(fh, offset, whence, fh.open->pointer, target)) return e;
  fh.open->pointer = target;
  return success;
}

Error File_get_position(File& fh, MPI_Offset* offset) {
  if (Error e = refuse_sequential(fh)) return e;
  *offset = fh.open->pointer;
  return success;
}

Error File_get_byte_offset(File& fh, MPI_Offset offset, MPI_Offset* disp) {
  const auto view = fh.open->view();
  MPI_Offset position = 0;
  if (offset < 0 || __builtin_mul_overflow(offset, view->etype_size(), &position) || !view->reaches(position))
    return fail(MPI_ERR_ARG, "offset is %lld, which is not in the view", static_cast<long long>(offset));
  *disp = view->offset_of(position);
  return success;
}

Error File_seek_shared(File& fh, MPI_Offset offset, int whence) {
  return set_shared(fh, [&] {
    MPI_Offset current = 0;
    MPI_Offset target = 0;
    if (Error e = refuse_sequential(fh)) return e;
    if (Error e = fh.open->shared->add(0, current)) return e;
    if (Error e = find(fh, offset, whence, current, target)) return e;
    return fh.open->shared->set(target);
  });
}

Error File_get_position_shared(File& fh, MPI_Offset* offset) {
  if (Error e = refuse_sequential(fh)) return e;
  return fh.open->shared->add(0, *offset);
}

Error File_set_atomicity(File& fh, int flag) {
  if (Error e = coll::barrier(*fh.comm)) return e;  // earlier operations are over
  fh.open->atomic_mode = flag != 0;
  return coll::barrier(*fh.comm);
}

Error File_get_atomicity(File& fh, int* flag) {
  *flag = fh.open->atomic_mode;
  return success;
}

}  // namespace heddle::mpi
