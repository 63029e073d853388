// State that a kernel thread keeps until it ends. Not a thread_local object with a destructor: that would put a guard
// on every access to the thread's state, and where there is no memory to register the destructor libc ends the program.
#pragma once

#include <pthread.h>

#include <memory>
#include <new>

namespace heddle::platform {

// When the calling thread ends, `at_end` gets `mine`. Once in a thread for each `at_end`. Throws std::bad_alloc.
template <void (*at_end)(void*)>
void leave_at_thread_end(void* mine) {
  static const pthread_key_t key = [] {
    pthread_key_t k;
    if (pthread_key_create(&k, at_end) != 0) throw std::bad_alloc();
    return k;
  }();
  if (pthread_setspecific(key, mine) != 0) throw std::bad_alloc();
}

// The calling thread's T, made when it first asks for it and gone when it ends.
template <class T>
class OfThread {
 public:
  // Throws std::bad_alloc.
  static T& get() { return mine_ != nullptr ? *mine_ : make(); }

 private:
  [[gnu::cold, gnu::noinline]] static T& make() {
    auto made = std::make_unique<T>();
    leave_at_thread_end<drop>(made.get());
    return *(mine_ = made.release());
  }
  static void drop(void* object) {
    mine_ = nullptr;  // the destructor may use another one
    delete static_cast<T*>(object);
  }

  inline static constinit thread_local T* mine_ = nullptr;
};

}  // namespace heddle::platform
