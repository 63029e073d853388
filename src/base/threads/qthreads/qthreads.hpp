// Qthreads: user-level threads that shepherds (kernel threads) take from queues.
//
// Qthreads has no call that suspends one thread or resumes it, but words that are full or empty, which threads wait
// for. Each thread has one such word here, and it is full unless there is a permission to go on: a thread that suspends
// itself waits until it is empty and fills it, resume empties it. Only the address is used, never the memory: that of
// the thread's stack. So nothing is set up for a thread and nothing is left of it.
//
// A kernel thread that Qthreads does not know would be put to sleep by every operation on such words, until a shepherd
// has carried it out. It hands a task over instead, and goes on. The task belongs to the shepherd that the thread was
// suspended on: shepherds need not help each other, and another may be busy for long.
//
// Simple tasks (QTHREAD_SPAWN_SIMPLE) have no stack of their own and can't be suspended.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <qthread/qthread.h>

#include <array>
#include <atomic>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "base/threads/runtime.hpp"

namespace heddle::threads {

struct Qthreads {
  static constexpr const char* name = "qthreads";

  static Thread self() noexcept {
    // A shepherd that is ending runs no thread.
    if (qthread_shep() == NO_SHEPHERD || qthread_id() == QTHREAD_NON_TASK_ID) return nullptr;
    if (void* const stack = qthread_tos()) return stack;
    // The thread that initialized Qthreads, and simple tasks.
    return qthread_worker(nullptr) == 0 && is_on_stack_of_kernel_thread() ? &of_main : nullptr;
  }

  // An idle shepherd polls its queue, or sleeps, as Qthreads was built. A thread can't be put to sleep for a time, so
  // where yielding does not help, the shepherd yields its core.
  static void yield(Thread, std::uint32_t rests) noexcept {
    qthread_yield();
    if (rests >= most_yields) sched_yield();
  }

  static void suspend(Thread thread) noexcept {
    home_of(thread).store(qthread_shep(), std::memory_order_relaxed);
    auto* const word = static_cast<aligned_t*>(thread);
    const aligned_t* const itself = word;  // so nothing is written
    (void)qthread_writeEF(word, itself);
  }

  static void resume(Thread thread) noexcept {
    if (qthread_shep() != NO_SHEPHERD) {
      (void)qthread_empty(static_cast<aligned_t*>(thread));
    } else {
      const qthread_shepherd_id_t home = home_of(thread).load(std::memory_order_relaxed);
      while (qthread_spawn(empty, thread, 0, nullptr, 0, nullptr, home, QTHREAD_SPAWN_SIMPLE) != QTHREAD_SUCCESS)
        sched_yield();  // it is out of memory
    }
  }

  // Qthreads does not report the end of a thread, and its task-local memory is the program's. So the data of a thread
  // are dropped when another has got its stack.
  static void*& slot(void (*drop)(void*)) {
    // Never destroyed: threads may outlive the destructors of static objects.
    static auto& slots = *new Slots;
    const unsigned id = qthread_id();
    void* left = nullptr;
    Slot* slot = nullptr;
    {
      const std::lock_guard guard(slots.mutex);
      slot = &slots.of[self()];
      if (slot->id != id) left = std::exchange(slot->pointer, nullptr);
      slot->id = id;
    }
    if (left != nullptr) drop(left);
    return slot->pointer;
  }

 private:
  struct Slot {
    unsigned id = 0;
    void* pointer = nullptr;
  };
  struct Slots {
    std::mutex mutex;
    std::unordered_map<Thread, Slot> of;
  };

  static aligned_t empty(void* word) noexcept {
    (void)qthread_empty(static_cast<aligned_t*>(word));
    return 0;
  }

  // Where a thread was suspended, or one of the few that share its cell: any shepherd will do, that one is the soonest.
  static std::atomic<qthread_shepherd_id_t>& home_of(Thread thread) noexcept {
    static constinit std::array<std::atomic<qthread_shepherd_id_t>, 1024> homes{};
    return homes[std::hash<Thread>()(thread) / smallest_stack % homes.size()];
  }

  // Simple tasks of the shepherd that initialized Qthreads are not: it has made itself another stack for them.
  static bool is_on_stack_of_kernel_thread() noexcept {
    struct Stack {
      char* begin = nullptr;
      std::size_t bytes = 0;
      Stack() noexcept {
        pthread_attr_t attributes;
        if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
        void* at = nullptr;
        if (pthread_attr_getstack(&attributes, &at, &bytes) == 0) begin = static_cast<char*>(at);
        pthread_attr_destroy(&attributes);
      }
    };
    static thread_local const Stack stack;
    const auto* const here = static_cast<const char*>(__builtin_frame_address(0));
    return here >= stack.begin && here < stack.begin + stack.bytes;
  }

  static constexpr std::uint32_t most_yields = 400;
  static constexpr std::size_t smallest_stack = 4096;  // bytes between the addresses of two threads
  static inline aligned_t of_main = 0;
};

static_assert(Runtime<Qthreads>);

}  // namespace heddle::threads
