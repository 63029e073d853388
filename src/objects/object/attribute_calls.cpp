// Attribute keys and attributes of communicators, datatypes and windows (MPI 5.0, section 7.7).
#include <atomic>

#include "objects/binding/impl.hpp"
#include "objects/object/attribute.hpp"
#include "objects/object/resolve.hpp"
#include "objects/object/tables.hpp"
#include "objects/object/win.hpp"

namespace heddle::mpi {

namespace {

// The copy functions' constants: null copies nothing, 1 copies the value (MPI_COMM_DUP_FN and the like).
template <class Copy, class Delete>
Error create(Kind owner_kind, Copy* copy, Delete* remove, int* number, void* extra_state) {
  auto* keyval = new Keyval{.owner_kind = owner_kind};
  keyval->copies_itself = reinterpret_cast<std::uintptr_t>(copy) == 1;
  if (!keyval->copies_itself) keyval->copy = reinterpret_cast<void (*)()>(copy);
  keyval->remove = reinterpret_cast<void (*)()>(remove);
  keyval->extra_state = extra_state;
  *number = current_rank().tables->keyvals.add(keyval);
  return success;
}

Error free(Kind owner_kind, int* number) {
  if (!current_rank().tables->keyvals.free(*number, owner_kind))
    return fail(MPI_ERR_KEYVAL, "key %d is not one that the program created for this kind of object", *number);
  *number = MPI_KEYVAL_INVALID;
  return success;
}

// Finds the key for one call.
class Key {
 public:
  Key(int number, Kind owner_kind) : keyval_(current_rank().tables->keyvals.find(number, owner_kind)) {
    if (!keyval_)
      error_ = fail(MPI_ERR_KEYVAL, "key %d is not one that the program created for this kind of object", number);
  }
  ~Key() {
    if (keyval_) release(*keyval_);
  }
  Key(const Key&) = delete;
  Key& operator=(const Key&) = delete;

  Error error() const { return error_; }
  Keyval& operator*() const { return *keyval_; }

 private:
  Keyval* keyval_;
  Error error_;
};

// The standard's own attributes. The value that a user gets is a pointer to an int.
int* predefined_attribute(int number) {
  ObjectTables& tables = *current_rank().tables;
  switch (number) {
    case MPI_TAG_UB:
      return &tables.predefined.tag_ub;
    case MPI_IO:
      return &tables.predefined.io;
    case MPI_HOST:
      return &tables.predefined.host;
    case MPI_WTIME_IS_GLOBAL:
      return &tables.predefined.wtime_is_global;
    case MPI_APPNUM:
      return &tables.predefined.appnum;
    case MPI_UNIVERSE_SIZE:
      return &tables.predefined.universe_size;
    case MPI_LASTUSEDCODE:
      return tables.errors.last_used();
    default:
      return nullptr;
  }
}

// Those of a window: the base is the value itself, for the others it is a pointer to it.
void* predefined_attribute(Win& win, int number) {
  Win::Predefined& predefined = win.predefined;
  switch (number) {
    case MPI_WIN_BASE:
      return predefined.base;
    case MPI_WIN_SIZE:
      return &predefined.size;
    case MPI_WIN_DISP_UNIT:
      return &predefined.disp_unit;
    case MPI_WIN_CREATE_FLAVOR:
      return &predefined.flavor;
    default:
      return &predefined.model;
  }
}
bool is_predefined_of_window(int number) { return MPI_WIN_BASE <= number && number <= MPI_WIN_MODEL; }

Error read_only(int number) {
  return fail(MPI_ERR_KEYVAL, "key %d is predefined: its attribute cannot be changed", number);
}

Error get(const AttributeSet* attributes, Kind kind, int number, void* place, int* flag) {
  const Key key(number, kind);
  if (key.error()) return key.error();
  void* value = nullptr;
  *flag = attributes && attributes->get(number, value);
  if (*flag) *static_cast<void**>(place) = value;
  return success;
}

Error set(AttributeSet& attributes, std::uintptr_t owner, Kind kind, int number, void* value) {
  const Key key(number, kind);
  if (key.error()) return key.error();
  if ((*key).freed.load(std::memory_order_relaxed))
    return fail(MPI_ERR_KEYVAL, "key %d has been freed: its values can be read and deleted, but none can be set",
                number);
  return attributes.set(owner, *key, value);
}

Error remove(AttributeSet* attributes, std::uintptr_t owner, Kind kind, int number) {
  const Key key(number, kind);
  if (key.error()) return key.error();
  return attributes ? attributes->remove(owner, *key) : success;
}

// Most datatypes never have attributes, and the predefined ones are constants of the process, whose attributes
// belong to the rank.
AttributeSet* find_attributes(const Datatype& datatype) {
  if (datatype.predefined) return current_rank().tables->attributes_of_predefined(datatype, false);
  std::atomic_ref place(const_cast<Datatype&>(datatype).attributes);
  return place.load(std::memory_order_acquire);
}

AttributeSet& make_attributes(Datatype& datatype) {
  if (datatype.predefined) return *current_rank().tables->attributes_of_predefined(datatype, true);
  std::atomic_ref place(datatype.attributes);
  AttributeSet* there = place.load(std::memory_order_acquire);
  if (there) return *there;
  auto* made = new AttributeSet;
  if (place.compare_exchange_strong(there, made, std::memory_order_acq_rel)) return *made;
  delete made;
  return *there;
}

}  // namespace

Error Comm_create_keyval(MPI_Comm_copy_attr_function* comm_copy_attr_fn,
                         MPI_Comm_delete_attr_function* comm_delete_attr_fn, int* comm_keyval, void* extra_state) {
  return create(Kind::comm, comm_copy_attr_fn, comm_delete_attr_fn, comm_keyval, extra_state);
}
Error Type_create_keyval(MPI_Type_copy_attr_function* type_copy_attr_fn,
                         MPI_Type_delete_attr_function* type_delete_attr_fn, int* type_keyval, void* extra_state) {
  return create(Kind::datatype, type_copy_attr_fn, type_delete_attr_fn, type_keyval, extra_state);
}
Error Win_create_keyval(MPI_Win_copy_attr_function* win_copy_attr_fn, MPI_Win_delete_attr_function* win_delete_attr_fn,
                        int* win_keyval, void* extra_state) {
  return create(Kind::win, win_copy_attr_fn, win_delete_attr_fn, win_keyval, extra_state);
}

Error Comm_free_keyval(int* comm_keyval) { return free(Kind::comm, comm_keyval); }
Error Type_free_keyval(int* type_keyval) { return free(Kind::datatype, type_keyval); }
Error Win_free_keyval(int* win_keyval) { return free(Kind::win, win_keyval); }

Error Comm_get_attr(Comm& comm, int comm_keyval, void* attribute_val, int* flag) {
  if (int* predefined = predefined_attribute(comm_keyval)) {
    *static_cast<int**>(attribute_val) = predefined;
    *flag = 1;
    return success;
  }
  return get(&comm.attributes, Kind::comm, comm_keyval, attribute_val, flag);
}
Error Comm_set_attr(Comm& comm, int comm_keyval, void* attribute_val) {
  if (predefined_attribute(comm_keyval)) return read_only(comm_keyval);
  return set(comm.attributes, comm.handle, Kind::comm, comm_keyval, attribute_val);
}
Error Comm_delete_attr(Comm& comm, int comm_keyval) {
  if (predefined_attribute(comm_keyval)) return read_only(comm_keyval);
  return remove(&comm.attributes, comm.handle, Kind::comm, comm_keyval);
}

Error Win_get_attr(Win& win, int win_keyval, void* attribute_val, int* flag) {
  if (is_predefined_of_window(win_keyval)) {
    *static_cast<void**>(attribute_val) = predefined_attribute(win, win_keyval);
    *flag = 1;
    return success;
  }
  return get(&win.attributes, Kind::win, win_keyval, attribute_val, flag);
}
Error Win_set_attr(Win& win, int win_keyval, void* attribute_val) {
  if (is_predefined_of_window(win_keyval)) return read_only(win_keyval);
  return set(win.attributes, win.handle, Kind::win, win_keyval, attribute_val);
}
Error Win_delete_attr(Win& win, int win_keyval) {
  if (is_predefined_of_window(win_keyval)) return read_only(win_keyval);
  return remove(&win.attributes, win.handle, Kind::win, win_keyval);
}

Error Type_get_attr(const Datatype& datatype, int type_keyval, void* attribute_val, int* flag) {
  return get(find_attributes(datatype), Kind::datatype, type_keyval, attribute_val, flag);
}
Error Type_set_attr(Datatype& datatype, int type_keyval, void* attribute_val) {
  return set(make_attributes(datatype), datatype.handle, Kind::datatype, type_keyval, attribute_val);
}
Error Type_delete_attr(Datatype& datatype, int type_keyval) {
  return remove(find_attributes(datatype), datatype.handle, Kind::datatype, type_keyval);
}

}  // namespace heddle::mpi
