// Boost.Fiber: user-level threads that the kernel thread they run on schedules among themselves.
//
// Every kernel thread of a program that uses Boost.Fiber may carry some: its own stack is a fiber (the main context of
// that thread), and others that wait may become runnable any time, which is not visible here. So it is never put to
// sleep in the kernel by us, unless it is a thread of another runtime; when none of its fibers can run, Boost.Fiber's
// scheduler does that.
//
// The documentation offers suspending and scheduling a context for writers of schedulers and event loops (Boost.Fiber,
// "Integrating fibers with asynchronous callbacks", and its asio example). A context that is about to suspend itself
// may be scheduled by another kernel thread: such contexts go through the queue of its own scheduler, which is polled
// after the switch.
#pragma once

#include <boost/fiber/context.hpp>
#include <boost/fiber/fss.hpp>
#include <boost/fiber/operations.hpp>
#include <boost/fiber/scheduler.hpp>
#include <chrono>

#include "base/threads/runtime.hpp"

namespace heddle::threads {

struct BoostFiber {
  static constexpr const char* name = "boost-fiber";

  static Thread self() noexcept {
    Context* const context = Context::active();  // null in a kernel thread that is ending
    return context != nullptr && context->is_context(boost::fibers::type::worker_context) ? context : nullptr;
  }
  static Thread carrier() noexcept { return Context::active(); }

  static void yield(Thread thread, std::uint32_t rests) noexcept {
    auto* const context = static_cast<Context*>(thread);
    if (rests < most_yields) return context->get_scheduler()->yield(context);
    context->wait_until(std::chrono::steady_clock::now() + nap);
  }

  static void suspend(Thread thread) noexcept { static_cast<Context*>(thread)->suspend(); }

  static void resume(Thread thread) noexcept {
    auto* const context = static_cast<Context*>(thread);
    boost::fibers::scheduler* const scheduler = context->get_scheduler();
    const Context* const mine = Context::active();
    if (mine != nullptr && mine->get_scheduler() == scheduler) {
      scheduler->schedule(context);
    } else {
      scheduler->schedule_from_remote(context);
    }
  }

  static void*& slot(void (*drop)(void*)) {
    // Boost never frees data of the fiber that a kernel thread starts as: they go with that thread.
    if (Context::active()->is_context(boost::fibers::type::main_context)) {
      static thread_local Slot slot;
      slot.drop = drop;
      return slot.pointer;
    }
    // Never destroyed: fibers may outlive the destructors of static objects.
    static auto& own = *new boost::fibers::fiber_specific_ptr<Slot>([](Slot* slot) { delete slot; });
    Slot* slot = own.get();
    if (slot == nullptr) {
      slot = new Slot{nullptr, drop};
      own.reset(slot);
    }
    return slot->pointer;
  }

 private:
  using Context = boost::fibers::context;

  struct Slot {
    void* pointer = nullptr;
    void (*drop)(void*) = nullptr;
    ~Slot() {
      if (pointer != nullptr) drop(pointer);
    }
  };

  static constexpr std::uint32_t most_yields = 400;  // in a row, before the first nap
  static constexpr std::chrono::microseconds nap{50};
};

static_assert(CarriedByAny<BoostFiber>);

}  // namespace heddle::threads
