#include "objects/object/attribute.hpp"

namespace heddle {

namespace {

// Calls a copy or delete function of the right type for the kind of object.
template <class CommFunction, class TypeFunction, class WinFunction, class... Args>
int call(Kind kind, void (*function)(), std::uintptr_t owner, Args... args) {
  switch (kind) {
    case Kind::datatype:
      return reinterpret_cast<TypeFunction*>(function)(reinterpret_cast<MPI_Datatype>(owner), args...);
    case Kind::win:
      return reinterpret_cast<WinFunction*>(function)(reinterpret_cast<MPI_Win>(owner), args...);
    default:
      return reinterpret_cast<CommFunction*>(function)(reinterpret_cast<MPI_Comm>(owner), args...);
  }
}

Error failed(int code, const char* which, const Keyval& keyval) {
  return fail(code, "the %s function of attribute key %d returned error code %d", which, keyval.number, code);
}

Error call_delete(const Keyval& keyval, std::uintptr_t owner, void* value) {
  if (!keyval.remove) return success;
  const int code = call<MPI_Comm_delete_attr_function, MPI_Type_delete_attr_function, MPI_Win_delete_attr_function>(
      keyval.owner_kind, keyval.remove, owner, keyval.number, value, keyval.extra_state);
  return code == MPI_SUCCESS ? success : failed(code, "delete", keyval);
}

Error call_copy(const Keyval& keyval, std::uintptr_t owner, void* value, void*& copy, bool& wanted) {
  wanted = keyval.copies_itself;
  copy = value;
  if (!keyval.copy) return success;
  int flag = 0;
  const int code = call<MPI_Comm_copy_attr_function, MPI_Type_copy_attr_function, MPI_Win_copy_attr_function>(
      keyval.owner_kind, keyval.copy, owner, keyval.number, keyval.extra_state, value, static_cast<void*>(&copy),
      &flag);
  wanted = flag != 0;
  return code == MPI_SUCCESS ? success : failed(code, "copy", keyval);
}

}  // namespace

void retain(Keyval& keyval) { keyval.refs.fetch_add(1, std::memory_order_relaxed); }

void release(Keyval& keyval) {
  if (keyval.refs.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (keyval.table) keyval.table->forget(keyval);
  delete &keyval;
}

namespace {

// False: its last reference has gone, and the thread that dropped it is about to remove it from the table.
bool retain_if_alive(Keyval& keyval) {
  int refs = keyval.refs.load(std::memory_order_relaxed);
  while (refs != 0)
    if (keyval.refs.compare_exchange_weak(refs, refs + 1, std::memory_order_relaxed)) return true;
  return false;
}

}  // namespace

KeyvalTable::~KeyvalTable() {
  for (const auto& [number, keyval] : keyvals_) {
    keyval->table = nullptr;
    if (!keyval->freed.load(std::memory_order_relaxed)) release(*keyval);
  }
}

int KeyvalTable::add(Keyval* keyval) {
  std::lock_guard guard(mutex_);
  keyval->table = this;
  keyval->number = next_++;
  keyvals_.emplace(keyval->number, keyval);
  return keyval->number;
}

Keyval* KeyvalTable::find(int number, Kind owner_kind) {
  std::lock_guard guard(mutex_);
  const auto found = keyvals_.find(number);
  if (found == keyvals_.end() || found->second->owner_kind != owner_kind) return nullptr;
  return retain_if_alive(*found->second) ? found->second : nullptr;
}

bool KeyvalTable::free(int number, Kind owner_kind) {
  Keyval* keyval = nullptr;
  {
    std::lock_guard guard(mutex_);
    const auto found = keyvals_.find(number);
    if (found == keyvals_.end() || found->second->owner_kind != owner_kind) return false;
    keyval = found->second;
    if (keyval->freed.exchange(true, std::memory_order_relaxed)) return false;
  }
  release(*keyval);
  return true;
}

void KeyvalTable::forget(const Keyval& keyval) {
  std::lock_guard guard(mutex_);
  keyvals_.erase(keyval.number);
}

AttributeSet::~AttributeSet() {
  for (const Attribute& attribute : attributes_) release(*attribute.keyval);
}

bool AttributeSet::get(int keyval, void*& value) const {
  std::lock_guard guard(mutex_);
  const auto found = places_.find(keyval);
  if (found == places_.end()) return false;
  value = found->second->value;
  return true;
}

void AttributeSet::append(const Attribute& attribute) {
  const auto place = attributes_.insert(attributes_.end(), attribute);
  try {
    places_.emplace(attribute.keyval->number, place);
  } catch (...) {
    attributes_.erase(place);
    throw;
  }
}

Error AttributeSet::set(std::uintptr_t owner, Keyval& keyval, void* value) {
  // An existing value is deleted first; if its delete function fails, it stays.
  void* old = nullptr;
  if (get(keyval.number, old)) {
    if (Error e = call_delete(keyval, owner, old)) return e;
  }
  std::lock_guard guard(mutex_);
  if (const auto found = places_.find(keyval.number); found != places_.end()) {
    found->second->value = value;
    return success;
  }
  append({&keyval, value});
  retain(keyval);
  return success;
}

Error AttributeSet::remove(std::uintptr_t owner, const Keyval& keyval) {
  void* value = nullptr;
  if (!get(keyval.number, value)) return success;
  if (Error e = call_delete(keyval, owner, value)) return e;
  Keyval* removed = nullptr;
  {
    std::lock_guard guard(mutex_);
    const auto found = places_.find(keyval.number);
    if (found == places_.end()) return success;  // the delete function did it itself
    removed = found->second->keyval;
    attributes_.erase(found->second);
    places_.erase(found);
  }
  release(*removed);
  return success;
}

Error AttributeSet::remove_all(std::uintptr_t owner) {
  Error first;
  for (;;) {
    Attribute last{};
    {
      std::lock_guard guard(mutex_);
      if (attributes_.empty()) return first;
      last = attributes_.back();
      attributes_.pop_back();
      places_.erase(last.keyval->number);
    }
    const Error error = call_delete(*last.keyval, owner, last.value);
    if (!first) first = error;
    release(*last.keyval);
  }
}

AttributeSet::Attributes AttributeSet::snapshot() const {
  std::lock_guard guard(mutex_);
  Attributes copy = attributes_;
  for (const Attribute& attribute : copy) retain(*attribute.keyval);
  return copy;
}

Error AttributeSet::copy_all(std::uintptr_t owner, AttributeSet& to) const {
  Error error;
  for (const Attribute& attribute : snapshot()) {
    void* copy = nullptr;
    bool wanted = false;
    if (!error) error = call_copy(*attribute.keyval, owner, attribute.value, copy, wanted);
    if (!error && wanted) {
      to.append({attribute.keyval, copy});  // takes the snapshot's reference
    } else {
      release(*attribute.keyval);
    }
  }
  return error;
}

}  // namespace heddle
