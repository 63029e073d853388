// Attributes. A value that Fortran sets is an INTEGER(KIND=MPI_ADDRESS_KIND) and is kept as if it were C's pointer; so C gets the
// value itself, not its address, of an attribute that Fortran has set.
#include <mutex>
#include <set>
#include <tuple>

#include "fortran/arguments.hpp"
#include "fortran/calls.hpp"
#include "fortran/predefined.hpp"

namespace heddle::fortran::calls {
namespace {

struct Functions {
  Procedure copy, remove;
  MPI_Aint extra_state;
  bool operator<(const Functions& other) const {
    return std::tie(copy, remove, extra_state) < std::tie(other.copy, other.remove, other.extra_state);
  }
};

// The functions of a keyval may be called after it has been freed, so they are kept for good: each combination once.
void* keep(Procedure copy, Procedure remove, MPI_Aint extra_state) {
  static std::mutex mutex;
  static std::set<Functions> kept;
  const std::lock_guard lock(mutex);
  return const_cast<Functions*>(&*kept.insert({copy, remove, extra_state}).first);
}

// Value: MPI_Aint, or Fint for the functions of MPI-1.
template <class Handle, class Value>
int copy(Handle object, int keyval, void* state, void* in, void* out, int* flag) {
  const auto& functions = *static_cast<Functions*>(state);
  Fint object_number = number(object), key = keyval, copied = logical_false, ierror = MPI_SUCCESS;
  Value extra_state = static_cast<Value>(functions.extra_state);
  Value value_in = static_cast<Value>(reinterpret_cast<MPI_Aint>(in)), value_out = 0;
  call(functions.copy, &object_number, &key, &extra_state, &value_in, &value_out, &copied, &ierror);
  *flag = truth(&copied);
  if (*flag) *static_cast<MPI_Aint*>(out) = value_out;
  return to_int(ierror);
}

template <class Handle, class Value>
int remove(Handle object, int keyval, void* attribute, void* state) {
  const auto& functions = *static_cast<Functions*>(state);
  Fint object_number = number(object), key = keyval, ierror = MPI_SUCCESS;
  Value extra_state = static_cast<Value>(functions.extra_state);
  Value value = static_cast<Value>(reinterpret_cast<MPI_Aint>(attribute));
  call(functions.remove, &object_number, &key, &value, &extra_state, &ierror);
  return to_int(ierror);
}

// `dup`: C's constant for the function that copies every attribute. That for the functions that do nothing is null.
template <class Handle, class Value, class Copy, class Remove>
void create(int (*enter)(Copy*, Remove*, int*, void*), Copy* dup, Procedure copy_fn, Procedure remove_fn, Fint* keyval,
            MPI_Aint extra_state, Fint* ierror) {
  Copy* const c_copy = is_dup(copy_fn) ? dup : is_null_copy(copy_fn) ? nullptr : copy<Handle, Value>;
  Remove* const c_remove = is_null_delete(remove_fn) ? nullptr : remove<Handle, Value>;
  give(ierror, enter(c_copy, c_remove, IntOut(keyval), keep(copy_fn, remove_fn, extra_state)));
}

void* pointer(MPI_Aint value) { return reinterpret_cast<void*>(value); }

// What Fortran has for an attribute. C has a pointer to the value of most that are predefined.
MPI_Aint value_of(int keyval, void* attribute) {
  switch (keyval) {
    case MPI_TAG_UB:
    case MPI_IO:
    case MPI_HOST:
    case MPI_WTIME_IS_GLOBAL:
    case MPI_APPNUM:
    case MPI_LASTUSEDCODE:
    case MPI_UNIVERSE_SIZE:
    case MPI_WIN_DISP_UNIT:
    case MPI_WIN_CREATE_FLAVOR:
    case MPI_WIN_MODEL:
      return *static_cast<const int*>(attribute);
    case MPI_WIN_SIZE:
      return *static_cast<const MPI_Aint*>(attribute);
    default:
      return reinterpret_cast<MPI_Aint>(attribute);
  }
}

template <class Handle, class Value>
void get(int (*ask)(Handle, int, void*, int*), const Fint* object, const Fint* keyval, Value* value, Fint* flag,
         Fint* ierror) {
  void* attribute = nullptr;
  int found = 0;
  const int key = integer(keyval), code = ask(handle<Handle>(*object), key, &attribute, &found);
  if (code == MPI_SUCCESS) *flag = found ? logical_true : logical_false;
  if (code == MPI_SUCCESS && found) *value = static_cast<Value>(value_of(key, attribute));
  give(ierror, code);
}

}  // namespace

void comm_create_keyval(Procedure copy, Procedure remove, Fint* keyval, const MPI_Aint* extra_state, Fint* ierror) {
  create<MPI_Comm, MPI_Aint>(MPI_Comm_create_keyval, MPI_COMM_DUP_FN, copy, remove, keyval, *extra_state, ierror);
}

void type_create_keyval(Procedure copy, Procedure remove, Fint* keyval, const MPI_Aint* extra_state, Fint* ierror) {
  create<MPI_Datatype, MPI_Aint>(MPI_Type_create_keyval, MPI_TYPE_DUP_FN, copy, remove, keyval, *extra_state, ierror);
}

void win_create_keyval(Procedure copy, Procedure remove, Fint* keyval, const MPI_Aint* extra_state, Fint* ierror) {
  create<MPI_Win, MPI_Aint>(MPI_Win_create_keyval, MPI_WIN_DUP_FN, copy, remove, keyval, *extra_state, ierror);
}

void keyval_create(Procedure copy, Procedure remove, Fint* keyval, const Fint* extra_state, Fint* ierror) {
  create<MPI_Comm, Fint>(MPI_Comm_create_keyval, MPI_COMM_DUP_FN, copy, remove, keyval, *extra_state, ierror);
}

void comm_set_attr(const Fint* comm, const Fint* keyval, const MPI_Aint* value, Fint* ierror) {
  give(ierror, MPI_Comm_set_attr(handle<MPI_Comm>(*comm), integer(keyval), pointer(*value)));
}

void type_set_attr(const Fint* datatype, const Fint* keyval, const MPI_Aint* value, Fint* ierror) {
  give(ierror, MPI_Type_set_attr(handle<MPI_Datatype>(*datatype), integer(keyval), pointer(*value)));
}

void win_set_attr(const Fint* win, const Fint* keyval, const MPI_Aint* value, Fint* ierror) {
  give(ierror, MPI_Win_set_attr(handle<MPI_Win>(*win), integer(keyval), pointer(*value)));
}

void attr_put(const Fint* comm, const Fint* keyval, const Fint* value, Fint* ierror) {
  give(ierror, MPI_Comm_set_attr(handle<MPI_Comm>(*comm), integer(keyval), pointer(*value)));
}

void comm_get_attr(const Fint* comm, const Fint* keyval, MPI_Aint* value, Fint* flag, Fint* ierror) {
  get(MPI_Comm_get_attr, comm, keyval, value, flag, ierror);
}

void type_get_attr(const Fint* datatype, const Fint* keyval, MPI_Aint* value, Fint* flag, Fint* ierror) {
  get(MPI_Type_get_attr, datatype, keyval, value, flag, ierror);
}

void win_get_attr(const Fint* win, const Fint* keyval, MPI_Aint* value, Fint* flag, Fint* ierror) {
  get(MPI_Win_get_attr, win, keyval, value, flag, ierror);
}

void attr_get(const Fint* comm, const Fint* keyval, Fint* value, Fint* flag, Fint* ierror) {
  get(MPI_Comm_get_attr, comm, keyval, value, flag, ierror);
}

}  // namespace heddle::fortran::calls
