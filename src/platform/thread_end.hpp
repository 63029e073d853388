// What a kernel thread leaves behind when it ends. Not an object with a destructor: that would put a guard on every access to
// what belongs to a thread.
#pragma once

#include <pthread.h>

namespace heddle::platform {

// When the calling thread ends, `at_end` gets `mine`. Once in a thread for each `at_end`.
template <void (*at_end)(void*)>
void leave_at_thread_end(void* mine) {
  static const pthread_key_t key = [] {
    pthread_key_t k;
    pthread_key_create(&k, at_end);
    return k;
  }();
  pthread_setspecific(key, mine);
}

}  // namespace heddle::platform
