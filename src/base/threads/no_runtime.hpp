// The component that is bound where none was chosen: it has no threads.
#pragma once

#include "base/threads/runtime.hpp"

namespace heddle::threads {

struct NoRuntime {
  static constexpr const char* name = "none";
  static Thread self() noexcept { return nullptr; }
  static void yield(Thread, std::uint32_t) noexcept {}
  static void suspend(Thread) noexcept {}
  static void resume(Thread) noexcept {}
  static void*& slot(void (*)(void*)) {
    static void* nobodys = nullptr;
    return nobodys;
  }
};

static_assert(Runtime<NoRuntime>);

}  // namespace heddle::threads
