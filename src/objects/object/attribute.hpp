// Attributes: values that a program caches on a communicator, datatype or window (MPI 5.0, section 7.7).
//
// The user's copy and delete functions are called with no lock held; they may use the very object.
#pragma once

#include <mpi.h>

#include <atomic>
#include <list>
#include <mutex>
#include <unordered_map>

#include "base/threads/mutex.hpp"
#include "objects/object/error.hpp"
#include "objects/object/object.hpp"

namespace heddle {

class KeyvalTable;

// A key, with the functions that copy and delete its values. The user knows it by its number; it lives until the
// user has freed it and no object has a value for it. In between its values can still be read, copied and deleted, but
// none can be set.
struct Keyval {
  Kind owner_kind;  // comm, datatype or win
  int number = MPI_KEYVAL_INVALID;
  void (*copy)() = nullptr;    // of the type for owner_kind; MPI_COMM_NULL_COPY_FN and the like are null,
  void (*remove)() = nullptr;  // and copies_itself stands for MPI_COMM_DUP_FN
  bool copies_itself = false;
  void* extra_state = nullptr;
  std::atomic<int> refs{1};
  std::atomic<bool> freed{false};
  KeyvalTable* table = nullptr;  // the table that knows its number
};

void retain(Keyval& keyval);
void release(Keyval& keyval);

class KeyvalTable {
 public:
  ~KeyvalTable();
  int add(Keyval* keyval);  // takes the reference
  // The key of this number for objects of this kind, freed or not, with a new reference; null if there is none.
  Keyval* find(int number, Kind owner_kind);
  // Marks the key as freed. False if there is none of this number that the user has not freed already.
  bool free(int number, Kind owner_kind);
  // The last reference to a key has gone.
  void forget(const Keyval& keyval);

 private:
  static constexpr int first_number = 0x1000;  // beyond the standard's
  threads::Mutex mutex_;
  std::unordered_map<int, Keyval*> keyvals_;
  int next_ = first_number;
};

// The attributes of one object.
struct AttributeSet {
 public:
  AttributeSet() = default;
  ~AttributeSet();
  AttributeSet(const AttributeSet&) = delete;
  AttributeSet& operator=(const AttributeSet&) = delete;

  bool get(int keyval, void*& value) const;

  // `owner` is the object that this set belongs to. An error of the user's function ends the operation and is returned,
  // as section 7.7.2 requires.
  Error set(std::uintptr_t owner, Keyval& keyval, void* value);
  Error remove(std::uintptr_t owner, const Keyval& keyval);
  Error remove_all(std::uintptr_t owner);  // the last one set first; goes on after an error and returns the first
  // Copies to `to`, the empty set of a new object, the values selected by the keys' copy functions.
  Error copy_all(std::uintptr_t owner, AttributeSet& to) const;

 private:
  struct Attribute {
    Keyval* keyval;  // a reference
    void* value;
  };
  using Attributes = std::list<Attribute>;
  Attributes snapshot() const;  // with references
  void append(const Attribute& attribute);

  mutable threads::Mutex mutex_;
  Attributes attributes_;                                 // in the order of being set
  std::unordered_map<int, Attributes::iterator> places_;  // of each, by the number of its key
};

}  // namespace heddle
