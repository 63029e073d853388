// The function that would have been called if this library did not define one of the same name: libc's, usually.
#pragma once

#include <dlfcn.h>

#include <atomic>

namespace heddle::platform {

template <class F>
class Next {
 public:
  constexpr explicit Next(const char* name) : name_(name) {}

  template <class... Args>
  auto operator()(Args... args) {
    return get()(args...);
  }

  F* get() {
    F* found = function_.load(std::memory_order_relaxed);
    if (found == nullptr) {
      found = reinterpret_cast<F*>(dlsym(RTLD_NEXT, name_));
      function_.store(found, std::memory_order_relaxed);
    }
    return found;
  }

 private:
  const char* name_;
  std::atomic<F*> function_{nullptr};
};

}  // namespace heddle::platform
