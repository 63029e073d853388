// The contract of a thread runtime, fulfilled by a component (one folder each).
//
// Source: Evans 2020, Fig. 3, which has some forty functions for threads, mutexes, conditions, thread-specific data and
// wait-and-synchronize. Five primitives are enough; the rest is built on them once, for threads of any runtime at a
// time: mutex.hpp, condition.hpp, per_thread.hpp, and base/safety/waiter.hpp (wait and synchronize).
//
// A component is a class of static functions. It is used in two ways, with the same sources: bound, when the library
// was configured with it, and then inlined; or loaded, behind the table that operations_of makes of it (Evans' columns
// of Fig. 4: static against shared).
#pragma once

#include <concepts>
#include <cstdint>

namespace heddle::threads {

// A thread of its runtime. Null: none.
using Thread = void*;

template <class R>
concept Runtime = requires(Thread thread, std::uint32_t rests, void (*drop)(void*)) {
  // Its name in HEDDLE_THREADS.
  { R::name } -> std::convertible_to<const char*>;
  // The calling thread, the same as long as it lives; null if the caller is not a thread of this runtime, or one that
  // can't be suspended (a tasklet). Any thread may call it, at any time until the process ends.
  { R::self() }
  noexcept->std::same_as<Thread>;
  // Lets others run; by `thread` itself. `rests` counts the calls in a row without success: a runtime that can put one
  // thread to sleep for a moment does so after many.
  { R::yield(thread, rests) }
  noexcept;
  // Suspends the calling thread `thread` until a thread resumes it.
  { R::suspend(thread) }
  noexcept;
  // Lets a thread go on that suspends itself, or is just about to. By any thread of any runtime, exactly once for each
  // suspension. The thread may be gone when this returns.
  { R::resume(thread) }
  noexcept;
  // The calling thread's own pointer, null at first. When the thread ends while it is not null, drop(pointer) is called, by
  // any thread, soon or when another thread takes its place. `drop` is the same in every call.
  { R::slot(drop) } -> std::same_as<void*&>;
};

// A runtime may claim kernel threads that are no runtime's own, because they may carry threads of it: then the kernel
// thread's own stack is suspended like those, so that they can run.
template <class R>
concept CarriedByAny = Runtime<R> && requires {
  { R::carrier() }
  noexcept->std::same_as<Thread>;
};

// A runtime behind function pointers.
struct Operations {
  std::uint32_t layout;  // of this table: operations_layout
  const char* name;
  Thread (*self)() noexcept;
  void (*yield)(Thread, std::uint32_t rests) noexcept;
  void (*suspend)(Thread) noexcept;
  void (*resume)(Thread) noexcept;
  void*& (*slot)(void (*drop)(void*));
  Thread (*carrier)() noexcept;  // null: it has none
};
inline constexpr std::uint32_t operations_layout = 2;

template <Runtime R>
constexpr Operations make_operations() {
  Operations made{operations_layout, R::name, R::self, R::yield, R::suspend, R::resume, R::slot, nullptr};
  if constexpr (CarriedByAny<R>) made.carrier = R::carrier;
  return made;
}
template <Runtime R>
inline constexpr Operations operations_of = make_operations<R>();

// The export of a loadable component: a function without arguments that returns its table.
inline constexpr const char* component_entry = "heddle_thread_runtime";
using ComponentEntry = const Operations* (*)();

}  // namespace heddle::threads
