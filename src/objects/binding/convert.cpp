// Handles as integers, statuses between the languages, and inquiries about the ABI (MPI 5.0, chapters 19, 20).
//
// A predefined handle's integer is its constant, in every language. The integer of one that we made is 0x1000 plus the
// place of its object in the arena, so that it fits a Fortran INTEGER; it is good as long as the object lives.
#include <mpi.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "launch/rank/rank.hpp"
#include "objects/binding/impl.hpp"
#include "objects/object/info.hpp"
#include "objects/object/object.hpp"
#include "objects/object/tables.hpp"

namespace heddle::mpi {
namespace {

constexpr int first_made = static_cast<int>(arena::first_user_handle);

// The integer of a handle; that of `null` for a handle that is not live.
template <class Handle>
int to_int(Kind kind, Handle handle, Handle null) {
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  if (value < arena::first_user_handle) return static_cast<int>(value);
  const std::uintptr_t address = value & arena::address_mask;
  const arena::Extent& extent = arena::extents[static_cast<int>(kind)];
  const bool in_region = address - extent.start < extent.bytes.load(std::memory_order_relaxed);
  if (in_region && address % alignof(Object) == 0) {
    auto* object = reinterpret_cast<const Object*>(address);
    if (object->handle == value) return first_made + static_cast<int>(arena::index_of(kind, object));
  }
  return static_cast<int>(reinterpret_cast<std::uintptr_t>(null));
}

template <class Handle>
Handle from_int(Kind kind, int number, Handle null) {
  if (0 <= number && number < first_made) return reinterpret_cast<Handle>(static_cast<std::uintptr_t>(number));
  if (number < 0) return null;
  auto* object = static_cast<const Object*>(arena::at_index(kind, static_cast<std::uint32_t>(number - first_made)));
  return object && object->handle ? reinterpret_cast<Handle>(object->handle) : null;
}

template <class To, class From>
int copy_status(To* to, const From* from) {
  static_assert(sizeof(MPI_Status) == sizeof(MPI_F08_status) && sizeof(MPI_Status) == 8 * sizeof(MPI_Fint));
  if (!to || !from) return MPI_ERR_ARG;
  std::memcpy(to, from, sizeof(MPI_Status));
  return MPI_SUCCESS;
}

}  // namespace

int Comm_toint(MPI_Comm h) { return to_int(Kind::comm, h, MPI_COMM_NULL); }
int Errhandler_toint(MPI_Errhandler h) { return to_int(Kind::errhandler, h, MPI_ERRHANDLER_NULL); }
int File_toint(MPI_File h) { return to_int(Kind::file, h, MPI_FILE_NULL); }
int Group_toint(MPI_Group h) { return to_int(Kind::group, h, MPI_GROUP_NULL); }
int Info_toint(MPI_Info h) { return to_int(Kind::info, h, MPI_INFO_NULL); }
int Message_toint(MPI_Message h) { return to_int(Kind::message, h, MPI_MESSAGE_NULL); }
int Op_toint(MPI_Op h) { return to_int(Kind::op, h, MPI_OP_NULL); }
int Request_toint(MPI_Request h) { return to_int(Kind::request, h, MPI_REQUEST_NULL); }
int Session_toint(MPI_Session h) { return to_int(Kind::session, h, MPI_SESSION_NULL); }
int Type_toint(MPI_Datatype h) { return to_int(Kind::datatype, h, MPI_DATATYPE_NULL); }
int Win_toint(MPI_Win h) { return to_int(Kind::win, h, MPI_WIN_NULL); }

MPI_Comm Comm_fromint(int n) { return from_int(Kind::comm, n, MPI_COMM_NULL); }
MPI_Errhandler Errhandler_fromint(int n) { return from_int(Kind::errhandler, n, MPI_ERRHANDLER_NULL); }
MPI_File File_fromint(int n) { return from_int(Kind::file, n, MPI_FILE_NULL); }
MPI_Group Group_fromint(int n) { return from_int(Kind::group, n, MPI_GROUP_NULL); }
MPI_Info Info_fromint(int n) { return from_int(Kind::info, n, MPI_INFO_NULL); }
MPI_Message Message_fromint(int n) { return from_int(Kind::message, n, MPI_MESSAGE_NULL); }
MPI_Op Op_fromint(int n) { return from_int(Kind::op, n, MPI_OP_NULL); }
MPI_Request Request_fromint(int n) { return from_int(Kind::request, n, MPI_REQUEST_NULL); }
MPI_Session Session_fromint(int n) { return from_int(Kind::session, n, MPI_SESSION_NULL); }
MPI_Datatype Type_fromint(int n) { return from_int(Kind::datatype, n, MPI_DATATYPE_NULL); }
MPI_Win Win_fromint(int n) { return from_int(Kind::win, n, MPI_WIN_NULL); }

MPI_Fint Comm_c2f(MPI_Comm h) { return Comm_toint(h); }
MPI_Fint Errhandler_c2f(MPI_Errhandler h) { return Errhandler_toint(h); }
MPI_Fint File_c2f(MPI_File h) { return File_toint(h); }
MPI_Fint Group_c2f(MPI_Group h) { return Group_toint(h); }
MPI_Fint Info_c2f(MPI_Info h) { return Info_toint(h); }
MPI_Fint Message_c2f(MPI_Message h) { return Message_toint(h); }
MPI_Fint Op_c2f(MPI_Op h) { return Op_toint(h); }
MPI_Fint Request_c2f(MPI_Request h) { return Request_toint(h); }
MPI_Fint Session_c2f(MPI_Session h) { return Session_toint(h); }
MPI_Fint Type_c2f(MPI_Datatype h) { return Type_toint(h); }
MPI_Fint Win_c2f(MPI_Win h) { return Win_toint(h); }

MPI_Comm Comm_f2c(MPI_Fint n) { return Comm_fromint(n); }
MPI_Errhandler Errhandler_f2c(MPI_Fint n) { return Errhandler_fromint(n); }
MPI_File File_f2c(MPI_Fint n) { return File_fromint(n); }
MPI_Group Group_f2c(MPI_Fint n) { return Group_fromint(n); }
MPI_Info Info_f2c(MPI_Fint n) { return Info_fromint(n); }
MPI_Message Message_f2c(MPI_Fint n) { return Message_fromint(n); }
MPI_Op Op_f2c(MPI_Fint n) { return Op_fromint(n); }
MPI_Request Request_f2c(MPI_Fint n) { return Request_fromint(n); }
MPI_Session Session_f2c(MPI_Fint n) { return Session_fromint(n); }
MPI_Datatype Type_f2c(MPI_Fint n) { return Type_fromint(n); }
MPI_Win Win_f2c(MPI_Fint n) { return Win_fromint(n); }

// A status is the same 8 integers in all three languages. (The two conversions without C return an Error because the
// standard calls them procedures; the others return their code themselves.)
int Status_c2f(const MPI_Status* c, MPI_Fint* f) { return copy_status(f, c); }
int Status_f2c(const MPI_Fint* f, MPI_Status* c) { return copy_status(c, f); }
int Status_c2f08(const MPI_Status* c, MPI_F08_status* f08) { return copy_status(f08, c); }
int Status_f082c(const MPI_F08_status* f08, MPI_Status* c) { return copy_status(c, f08); }
Error Status_f2f08(const MPI_Fint* f, MPI_F08_status* f08) { return Error(copy_status(f08, f)); }
Error Status_f082f(const MPI_F08_status* f08, MPI_Fint* f) { return Error(copy_status(f, f08)); }

Error Abi_get_version(int* abi_major, int* abi_minor) {
  *abi_major = MPI_ABI_VERSION;
  *abi_minor = MPI_ABI_SUBVERSION;
  return success;
}

Error Abi_get_info(MPI_Info* info) {
  const Info* made = make_info({
      {"mpi_aint_size", std::to_string(sizeof(MPI_Aint))},
      {"mpi_count_size", std::to_string(sizeof(MPI_Count))},
      {"mpi_offset_size", std::to_string(sizeof(MPI_Offset))},
  });
  *info = reinterpret_cast<MPI_Info>(made->handle);
  return success;
}

Error Abi_get_fortran_info(MPI_Info* info) {
  const auto sizes = current_rank().tables->fortran.sizes();
  *info = sizes ? reinterpret_cast<MPI_Info>(make_info(*sizes)->handle) : MPI_INFO_NULL;
  return success;
}
Error Abi_set_fortran_info(const Info* info) {
  return current_rank().tables->fortran.tell(info ? info->entries() : InfoEntries{});
}
Error Abi_get_fortran_booleans(int logical_size, void* logical_true, void* logical_false, int* is_set) {
  *is_set = current_rank().tables->fortran.booleans(logical_size, logical_true, logical_false) ? 1 : 0;
  return success;
}
Error Abi_set_fortran_booleans(int logical_size, void* logical_true, void* logical_false) {
  return current_rank().tables->fortran.tell_booleans(logical_size, logical_true, logical_false);
}

}  // namespace heddle::mpi
