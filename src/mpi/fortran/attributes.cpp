// Attributes: keyvals whose functions are Fortran procedures, and values that either language has set (attribute_values.hpp).
#include <mutex>
#include <set>
#include <tuple>

#include "mpi/fortran/arguments.hpp"
#include "mpi/fortran/attribute_values.hpp"
#include "mpi/fortran/calls.hpp"
#include "mpi/fortran/predefined.hpp"

namespace heddle::fortran::calls {
namespace {

struct Functions {
  Procedure copy;
  Procedure remove;  // null: none
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
  Value value_in = static_cast<Value>(value_of(in)), value_out = 0;
  call(functions.copy, &object_number, &key, &extra_state, &value_in, &value_out, &copied, &ierror);
  *flag = truth(&copied);
  if (*flag) *static_cast<void**>(out) = keep_value(value_out);
  return to_int(ierror);
}

template <class Handle>
int duplicate(Handle, int, void*, void* in, void* out, int* flag) {
  *flag = 1;
  *static_cast<void**>(out) = copy_of_value(in);
  return MPI_SUCCESS;
}

template <class Handle, class Value>
int remove(Handle object, int keyval, void* attribute, void* state) {
  const auto& functions = *static_cast<Functions*>(state);
  Fint object_number = number(object), key = keyval, ierror = MPI_SUCCESS;
  Value extra_state = static_cast<Value>(functions.extra_state);
  Value value = static_cast<Value>(value_of(attribute));
  if (functions.remove) call(functions.remove, &object_number, &key, &value, &extra_state, &ierror);
  if (ierror == MPI_SUCCESS) forget_value(attribute);
  return to_int(ierror);
}

template <class Handle, class Value, class Copy, class Remove>
void create(int (*enter)(Copy*, Remove*, int*, void*), Procedure copy_fn, Procedure remove_fn, Fint* keyval,
            MPI_Aint extra_state, Fint* ierror) {
  Copy* const c_copy = is_dup(copy_fn) ? duplicate<Handle> : is_null_copy(copy_fn) ? nullptr : copy<Handle, Value>;
  if (is_null_delete(remove_fn)) remove_fn = nullptr;
  void* const state = keep(copy_fn, remove_fn, extra_state);
  give(ierror, enter(c_copy, remove<Handle, Value>, IntOut(keyval), state));
}

// C has a pointer to the value of most that are predefined.
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
      return fortran::value_of(attribute);
  }
}

template <class Handle>
void set(int (*enter)(Handle, int, void*), const Fint* object, const Fint* keyval, MPI_Aint value, Fint* ierror) {
  void* const attribute = keep_value(value);
  const int code = enter(handle<Handle>(*object), integer(keyval), attribute);
  if (code != MPI_SUCCESS) forget_value(attribute);
  give(ierror, code);
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
  create<MPI_Comm, MPI_Aint>(MPI_Comm_create_keyval, copy, remove, keyval, *extra_state, ierror);
}

void type_create_keyval(Procedure copy, Procedure remove, Fint* keyval, const MPI_Aint* extra_state, Fint* ierror) {
  create<MPI_Datatype, MPI_Aint>(MPI_Type_create_keyval, copy, remove, keyval, *extra_state, ierror);
}

void win_create_keyval(Procedure copy, Procedure remove, Fint* keyval, const MPI_Aint* extra_state, Fint* ierror) {
  create<MPI_Win, MPI_Aint>(MPI_Win_create_keyval, copy, remove, keyval, *extra_state, ierror);
}

void keyval_create(Procedure copy, Procedure remove, Fint* keyval, const Fint* extra_state, Fint* ierror) {
  create<MPI_Comm, Fint>(MPI_Comm_create_keyval, copy, remove, keyval, *extra_state, ierror);
}

void comm_set_attr(const Fint* comm, const Fint* keyval, const MPI_Aint* value, Fint* ierror) {
  set(MPI_Comm_set_attr, comm, keyval, *value, ierror);
}

void type_set_attr(const Fint* datatype, const Fint* keyval, const MPI_Aint* value, Fint* ierror) {
  set(MPI_Type_set_attr, datatype, keyval, *value, ierror);
}

void win_set_attr(const Fint* win, const Fint* keyval, const MPI_Aint* value, Fint* ierror) {
  set(MPI_Win_set_attr, win, keyval, *value, ierror);
}

void attr_put(const Fint* comm, const Fint* keyval, const Fint* value, Fint* ierror) {
  set(MPI_Comm_set_attr, comm, keyval, *value, ierror);
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
