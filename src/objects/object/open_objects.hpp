// The objects of one kind that a rank has made and not freed, for the end of MPI, which takes their handles back. Ranks
// that are threads share the memory of all objects, and another rank's may be under construction: each traverses only
// its own.
#pragma once

#include <mutex>
#include <unordered_set>

#include "base/threads/mutex.hpp"

namespace heddle {

template <class T>
class OpenObjects {
 public:
  void add(T& object) {
    std::lock_guard guard(mutex_);
    objects_.insert(&object);
  }
  void remove(T& object) {
    std::lock_guard guard(mutex_);
    objects_.erase(&object);
  }
  // They are given back after their last use; their handles are invalid from now on.
  void retire_handles() {
    std::lock_guard guard(mutex_);
    for (T* object : objects_) object->handle = 0;
  }

 private:
  threads::Mutex mutex_;
  std::unordered_set<T*> objects_;
};

}  // namespace heddle
