// A piece of work for the holder of a VNI: a function over it, and the thread whose counters it may signal. Work that
// is left to another thread does not throw: that thread could not handle it.
#pragma once

namespace heddle::safety {

template <class Wakeups>
struct Work {
  void (*run)(void* what, Wakeups& wakeups);
  void* what;
};

// Made of a callable that outlives the work.
template <class Wakeups, class F>
Work<Wakeups> work_of(F& f) {
  return {[](void* what, Wakeups& wakeups) { (*static_cast<F*>(what))(wakeups); },
          const_cast<void*>(static_cast<const void*>(&f))};
}

}  // namespace heddle::safety
