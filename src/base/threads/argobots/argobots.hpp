// Argobots: user-level threads that execution streams (kernel threads) take from pools.
//
// A user-level thread is suspended by ABT_self_suspend and resumed, into the pool it came from, by ABT_thread_resume,
// which refuses a thread that has not quite suspended itself: resume waits for such a thread, which takes as long as a
// switch. Tasklets can't be suspended, and threads outside of any execution stream are kernel threads.
#pragma once

#include <abt.h>
#include <sched.h>

#include "base/threads/runtime.hpp"

namespace heddle::threads {

struct Argobots {
  static constexpr const char* name = "argobots";

  static Thread self() noexcept {
    ABT_thread thread = ABT_THREAD_NULL;
    if (ABT_initialized() != ABT_SUCCESS || ABT_self_get_thread(&thread) != ABT_SUCCESS) return nullptr;
    ABT_unit_type type = ABT_UNIT_TYPE_EXT;
    if (ABT_self_get_type(&type) != ABT_SUCCESS || type != ABT_UNIT_TYPE_THREAD) return nullptr;
    return thread;
  }

  // An idle execution stream polls its pools: that is its scheduler's choice. A thread can't be put to sleep for a
  // time, so where yielding does not help, the stream's kernel thread yields its core.
  static void yield(Thread, std::uint32_t rests) noexcept {
    (void)ABT_self_yield();
    if (rests >= most_yields) sched_yield();
  }

  static void suspend(Thread) noexcept { (void)ABT_self_suspend(); }

  static void resume(Thread thread) noexcept {
    while (ABT_thread_resume(static_cast<ABT_thread>(thread)) != ABT_SUCCESS) sched_yield();
  }

  static void*& slot(void (*drop)(void*)) {
    // Made by the first thread that asks; never freed: threads may outlive the library's other state.
    static const ABT_key key = [](void (*drop_pointer)(void*)) {
      static void (*const drop_what)(void*) = drop_pointer;
      ABT_key made = ABT_KEY_NULL;
      (void)ABT_key_create(
          [](void* slot) {
            auto* const own = static_cast<Slot*>(slot);
            if (own->pointer != nullptr) drop_what(own->pointer);
            delete own;
          },
          &made);
      return made;
    }(drop);
    void* slot = nullptr;
    (void)ABT_key_get(key, &slot);
    if (slot == nullptr) {
      slot = new Slot{};
      (void)ABT_key_set(key, slot);
    }
    return static_cast<Slot*>(slot)->pointer;
  }

 private:
  struct Slot {
    void* pointer = nullptr;
  };

  static constexpr std::uint32_t most_yields = 400;
};

static_assert(Runtime<Argobots>);

}  // namespace heddle::threads
