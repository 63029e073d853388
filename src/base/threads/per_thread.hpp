// Thread-specific data (Evans 2020, Fig. 3) of threads of any runtime: one object of a type for each thread, made when
// the thread first asks for it, and gone with the thread.
//
// For state that must follow a user-level thread from one kernel thread to another, or that threads of one kernel
// thread must not share. It costs a search; state that kernel threads use often stays in a thread_local beside it.
#pragma once

namespace heddle::threads {

namespace detail {
struct Kind {
  void* (*make)();
  void (*destroy)(void*);
};
template <class T>
inline constexpr Kind kind_of{[]() -> void* { return new T{}; }, [](void* object) { delete static_cast<T*>(object); }};

void* own(const Kind& kind);
}  // namespace detail

// The calling thread's T.
template <class T>
T& own() {
  return *static_cast<T*>(detail::own(detail::kind_of<T>));
}

}  // namespace heddle::threads
