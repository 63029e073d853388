// Kernel threads: the component that is always there, and always bound.
//
// A suspended thread sleeps on a word of its own (a futex). The rest of the library lets kernel threads wait where that
// is cheaper still (sync/, base/safety/waiter.hpp); this is for operations that threads of any runtime have in common.
#pragma once

#include <sched.h>

#include "base/platform/native.hpp"
#include "base/platform/thread_end.hpp"
#include "base/threads/runtime.hpp"

namespace heddle::threads {

void end_of_kernel_thread() noexcept;  // thread_ref.hpp

struct Pthreads {
  static constexpr const char* name = "pthreads";

  static Thread self() noexcept { return &own(); }

  static void yield(Thread, std::uint32_t) noexcept { sched_yield(); }

  static void suspend(Thread thread) noexcept {
    Own& own = *static_cast<Own*>(thread);
    while (own.permits.exchange(0, platform::order::acquire) == 0)
      Native::park(own.permits, 0, platform::Scope::process);
  }

  // The thread may have gone when the kernel is asked to wake it: only its address is used then.
  static void resume(Thread thread) noexcept {
    Own& own = *static_cast<Own*>(thread);
    own.permits.store(1, platform::order::release);
    Native::unpark(own.permits, 1, platform::Scope::process);
  }

  static void*& slot(void (*drop)(void*)) {
    Own& mine = own();
    if (mine.drop == nullptr) {
      platform::leave_at_thread_end<end>(&mine);
      mine.drop = drop;
    }
    return mine.slot;
  }

 private:
  using Native = platform::Native;

  struct Own {
    Native::atomic<std::uint32_t> permits{0};
    void* slot = nullptr;
    void (*drop)(void*) = nullptr;
  };

  static void end(void* thread) {
    end_of_kernel_thread();  // a destructor may wait
    Own& own = *static_cast<Own*>(thread);
    if (own.slot != nullptr) own.drop(own.slot);
    own.slot = nullptr;
    own.drop = nullptr;
  }

  static Own& own() noexcept {
    static constinit thread_local Own own;
    return own;
  }
};

static_assert(Runtime<Pthreads>);

}  // namespace heddle::threads
