// Threads that a rank creates belong to it, by any interface: std::thread, OpenMP and the library's own come through
// pthread_create too.
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <threads.h>

#include <memory>

#include "base/platform/next_function.hpp"
#include "launch/host/life.hpp"
#include "launch/host/seat.hpp"
#include "launch/rank/host_interface.hpp"

namespace heddle::host {

constinit thread_local Thread this_thread;

struct ThreadExit {
  void (*function)(void*);
  void* argument;
  ThreadExit* next;
};

void enter(Seat& seat, Thread& thread) {
  thread.seat = &seat;
  seat.images.prepare_thread();
  if (seat.rank != nullptr) MPIX_Heddle_host_enter_rank(seat.rank);
  take_signal_stack();
}

void run_thread_exit_handlers() {
  while (ThreadExit* handler = this_thread.exit_handlers) {
    this_thread.exit_handlers = handler->next;
    handler->function(handler->argument);
    delete handler;
  }
}

void leave() {
  Seat& seat = *this_thread.seat;
  // A thread that has ended its rank leaves everything as it is, as in a process; mpiexec wants to see where it was.
  if (!seat.over.load()) run_thread_exit_handlers();
  give_back_signal_stack();
  if (seat.threads.fetch_sub(1) == 1 && !seat.over.load()) {
    // The first thread has left by pthread_exit, and this is the last: the rank ends as a process would.
    seat.threads.fetch_add(1);
    exit_rank(0);
  }
}

namespace {

constinit platform::Next<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)> next_create("pthread_create");
constinit platform::Next<int(thrd_t*, thrd_start_t, void*)> next_thrd_create("thrd_create");
constinit platform::Next<int(void (*)(void*), void*, void*)> next_thread_atexit("__cxa_thread_atexit_impl");

struct Beginning {
  Seat& seat;
  void* (*function)(void*);
  void* argument;
};

void leave_by_cleanup(void*) { leave(); }

// The frame to which a thread jumps when it ends its rank.
void* begin(void* argument) {
  const std::unique_ptr<Beginning> given(static_cast<Beginning*>(argument));
  const Beginning beginning = *given;
  jmp_buf base;
  enter(beginning.seat, this_thread);
  this_thread.base = &base;
  void* volatile result = nullptr;
  pthread_cleanup_push(leave_by_cleanup, nullptr);  // of pthread_exit and cancellation
  if (_setjmp(base) == 0) result = beginning.function(beginning.argument);
  pthread_cleanup_pop(1);
  return result;
}

int create(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*), void* argument) {
  Seat* seat = this_thread.seat;
  if (seat == nullptr) return next_create(thread, attributes, function, argument);
  auto beginning = std::make_unique<Beginning>(Beginning{*seat, function, argument});
  seat->threads.fetch_add(1);
  const int error = next_create(thread, attributes, begin, beginning.get());
  if (error == 0)
    static_cast<void>(beginning.release());
  else
    seat->threads.fetch_sub(1);
  return error;
}

struct StandardBeginning {
  thrd_start_t function;
  void* argument;
};

void* begin_standard(void* argument) {
  const std::unique_ptr<StandardBeginning> given(static_cast<StandardBeginning*>(argument));
  const StandardBeginning beginning = *given;
  return reinterpret_cast<void*>(static_cast<std::intptr_t>(beginning.function(beginning.argument)));
}

}  // namespace

extern "C" {

[[gnu::visibility("default")]] int host_pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*),
                                                       void*) asm("pthread_create");
[[gnu::visibility("default")]] int host_thrd_create(thrd_t*, thrd_start_t, void*) asm("thrd_create");
[[gnu::visibility("default")]] int host_cxa_thread_atexit(void (*)(void*), void*,
                                                          void*) asm("__cxa_thread_atexit_impl");

int host_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*), void* argument) {
  return create(thread, attributes, function, argument);
}

int host_thrd_create(thrd_t* thread, thrd_start_t function, void* argument) {
  if (this_thread.seat == nullptr) return next_thrd_create(thread, function, argument);
  auto beginning = std::make_unique<StandardBeginning>(StandardBeginning{function, argument});
  const int error = create(thread, nullptr, begin_standard, beginning.get());
  if (error != 0) return error == ENOMEM ? thrd_nomem : thrd_error;
  static_cast<void>(beginning.release());
  return thrd_success;
}

// Ours, because exit() runs those of the calling thread, and ours does not end the thread.
int host_cxa_thread_atexit(void (*function)(void*), void* argument, void* library) {
  if (this_thread.seat == nullptr) return next_thread_atexit(function, argument, library);
  this_thread.exit_handlers = new ThreadExit{function, argument, this_thread.exit_handlers};
  return 0;
}
}

}  // namespace heddle::host
