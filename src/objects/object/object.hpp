// MPI objects and their handles.
//
// A handle of the standard ABI is a pointer-sized value; the low 12 bits' worth of values are the standard's constants
// (MPI 5.0, appendix A), everything else is ours. Ours is the address of the object with the object's generation in the
// upper 16 bits:
//
//     63      48 47                     0
//     [generation][address in the arena  ]
//
// Objects live in one arena of type-stable slots: one range of addresses per kind, which grows and is never given back
// while the process lives. So any value can be tested without touching memory that might be gone: is the address in the
// region of that kind, and is this very value the slot's live handle? A freed, foreign, stale or random handle fails
// the test; a good one costs a subtraction, a shift and a compare on a line that the call reads anyway.
//
// An object is freed in two steps: the user's free retires the handle (from then on it is invalid), the last reference
// gives the slot back.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

namespace heddle {

enum class Kind : std::uint8_t {
  comm,
  group,
  datatype,
  op,
  request,
  info,
  errhandler,
  session,
  message,
  win,
  file,
  keyval
};
inline constexpr int kind_count = 12;

struct Object {
  std::uintptr_t handle = 0;           // the live handle, 0 once the user has freed it
  std::atomic<std::uint32_t> refs{1};  // the user's handle is one reference, pending operations are the others
  std::uint16_t generation = 0;        // kept by the arena across lives of the slot
  Kind kind;

 protected:
  constexpr explicit Object(Kind k) : kind(k) {}  // predefined objects are constant-initialized
  constexpr ~Object() = default;
};

namespace arena {

inline constexpr int region_bits = 32;  // 4 GiB of addresses for each kind
inline constexpr std::uintptr_t address_mask = (std::uintptr_t{1} << 48) - 1;
inline constexpr std::uintptr_t first_user_handle = 0x1000;  // below: constants of the standard

// The handle of an object in the arena as long as the program has not freed it.
inline std::uintptr_t make_handle(const Object& object) {
  return reinterpret_cast<std::uintptr_t>(&object) | (std::uintptr_t{object.generation} << 48);
}

// The place of the objects of a kind, and their bytes: an address outside is never read. 0 bytes before the first
// object.
struct Extent {
  std::uintptr_t start = 0;
  std::atomic<std::size_t> bytes{0};
};
extern Extent extents[kind_count];

// A slot of `size` bytes (the same for every object of a kind), cache-line aligned; throws std::bad_alloc when
// the region is full. `generation` is where the slot's generation continues.
void* take(Kind kind, std::size_t size, std::uint16_t& generation);
void give_back(Kind kind, void* slot, std::uint16_t generation);

// A slot's index in its region, for the 32-bit handles of Fortran; and back (null if there is no such slot).
std::uint32_t index_of(Kind kind, const void* slot);
void* at_index(Kind kind, std::uint32_t index);

// True if a value that is no live handle points to a present or former object, and its kind; for messages.
bool find_kind(std::uintptr_t handle, Kind& kind);

// The program's free: the handle is invalid from here on, or, if it is lent (LentHandle), from the end of that.
void end_handle(Object& object);
// True if the handle is valid only because it is lent.
bool is_ended(const Object& object);

}  // namespace arena

// A handle for a function of the program that the library calls: valid as long as this lives, also if the program has freed the
// object meanwhile. The caller has a reference to the object.
class LentHandle {
 public:
  explicit LentHandle(Object& object);
  ~LentHandle();
  LentHandle(const LentHandle&) = delete;
  LentHandle& operator=(const LentHandle&) = delete;

  std::uintptr_t value() const { return value_; }

 private:
  friend void arena::end_handle(Object& object);
  friend bool arena::is_ended(const Object& object);
  static LentHandle* first_of(const Object& object);

  Object& object_;
  std::uintptr_t value_;
  bool ended_ = false;
  LentHandle* next_ = nullptr;
  LentHandle* previous_ = nullptr;
};

// Makes an object of a type that has `static constexpr Kind object_kind`.
template <class T, class... Args>
T* make_object(Args&&... args) {
  std::uint16_t generation;
  void* slot = arena::take(T::object_kind, sizeof(T), generation);
  T* object = new (slot) T(std::forward<Args>(args)...);
  object->generation = generation;
  object->handle = arena::make_handle(*object);
  return object;
}

template <class T>
void retain(T& object) {
  object.refs.fetch_add(1, std::memory_order_relaxed);
}

template <class T>
void release(T& object) {
  if (object.refs.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  const std::uint16_t generation = object.generation;
  object.~T();
  arena::give_back(T::object_kind, &object, generation);
}

// The user's free: the handle is dead at once, the object after its last use.
template <class T>
void retire(T& object) {
  object.handle = 0;
  release(object);
}

// The object of a handle that we made, or null if the handle is not live or not of this kind.
template <class T>
T* live_object(std::uintptr_t handle) {
  const std::uintptr_t address = handle & arena::address_mask;
  const arena::Extent& extent = arena::extents[static_cast<int>(T::object_kind)];
  if (address - extent.start >= extent.bytes.load(std::memory_order_relaxed) || address % alignof(T) != 0)
    return nullptr;
  T* object = reinterpret_cast<T*>(address);
  return object->handle == handle ? object : nullptr;
}

}  // namespace heddle
