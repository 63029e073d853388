#include "launch/host/exit_handlers.hpp"
#include "base/platform/next_function.hpp"

#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "launch/host/life.hpp"
#include "launch/host/seat.hpp"

namespace heddle::host {

void ExitHandlers::add(const ExitHandler& handler) {
  const std::lock_guard guard(mutex_);
  handlers_.push_back(handler);
}

void ExitHandlers::add_quick(const ExitHandler& handler) {
  const std::lock_guard guard(mutex_);
  quick_.push_back(handler);
}

// The newest, of `library` if one is given, is not run any more.
bool ExitHandlers::take(std::vector<ExitHandler>& from, void* library, ExitHandler& handler) {
  const std::lock_guard guard(mutex_);
  for (auto i = from.rbegin(); i != from.rend(); ++i) {
    if (library != nullptr && i->library != library) continue;
    handler = *i;
    from.erase(std::next(i).base());
    return true;
  }
  return false;
}

namespace {

void call(const ExitHandler& handler, int status) {
  if (handler.takes == ExitHandler::Takes::argument)
    reinterpret_cast<void (*)(void*)>(handler.function)(handler.argument);
  else
    reinterpret_cast<void (*)(int, void*)>(handler.function)(status, handler.argument);
}

}  // namespace

void ExitHandlers::run(int status) {
  for (ExitHandler handler; take(handlers_, nullptr, handler);) call(handler, status);
}

void ExitHandlers::run_of(void* library) {
  for (ExitHandler handler; take(handlers_, library, handler);) call(handler, 0);
}

void ExitHandlers::run_quick() {
  for (ExitHandler handler; take(quick_, nullptr, handler);) call(handler, 0);
}

namespace {

constexpr int wait_status_of(int code) { return (code & 0xff) << 8; }

constinit platform::Next<void(int)> next_exit("exit");
constinit platform::Next<void(int)> next_exit_at_once("_exit");
constinit platform::Next<int(void (*)(), void*, void*)> next_cxa_atexit("__cxa_atexit");
constinit platform::Next<void(void*)> next_cxa_finalize("__cxa_finalize");
constinit platform::Next<int(void (*)(), void*)> next_on_exit("on_exit");
constinit platform::Next<int(void (*)(), void*)> next_at_quick_exit("__cxa_at_quick_exit");

// The seat whose end also ends this library; null for a shared library, which ends with the process.
Seat* seat_of(void* library) {
  Seat* seat = this_thread.seat;
  if (seat == nullptr) return nullptr;
  const bool own = library == nullptr || seat->images.contain(library) || seat->opened.contain(library);
  return own ? seat : nullptr;
}

[[noreturn]] void end_process(int code) {
  syscall(SYS_exit_group, code);
  __builtin_unreachable();
}

}  // namespace

void exit_rank(int code) {
  Seat& seat = *this_thread.seat;
  pid_t unclaimed = 0;
  const pid_t self = gettid();
  if (!is_forked() && !seat.exiting.compare_exchange_strong(unclaimed, self) && unclaimed != self)
    while (true) pause();  // another thread of the rank is ending it
  run_thread_exit_handlers();
  seat.exit_handlers.run(code);
  seat.images.destruct();
  seat.streams.flush();
  exit_rank_at_once(code);
}

void exit_rank_at_once(int code) {
  if (is_forked()) end_process(code);
  end_rank(wait_status_of(code));
}

extern "C" {

[[noreturn, gnu::visibility("default")]] void host_exit(int) asm("exit");
[[noreturn, gnu::visibility("default")]] void host_exit_at_once(int) asm("_exit");
[[noreturn, gnu::visibility("default")]] void host_exit_at_once_c(int) asm("_Exit");
[[noreturn, gnu::visibility("default")]] void host_quick_exit(int) asm("quick_exit");
[[gnu::visibility("default")]] int host_cxa_atexit(void (*)(), void*, void*) asm("__cxa_atexit");
[[gnu::visibility("default")]] void host_cxa_finalize(void*) asm("__cxa_finalize");
[[gnu::visibility("default")]] int host_on_exit(void (*)(), void*) asm("on_exit");
[[gnu::visibility("default")]] int host_at_quick_exit(void (*)(), void*) asm("__cxa_at_quick_exit");

void host_exit(int code) {
  if (this_thread.seat != nullptr) exit_rank(code);
  next_exit(code);
  __builtin_unreachable();
}

void host_exit_at_once(int code) {
  if (this_thread.seat != nullptr) exit_rank_at_once(code);
  next_exit_at_once(code);
  __builtin_unreachable();
}

void host_exit_at_once_c(int code) { host_exit_at_once(code); }

void host_quick_exit(int code) {
  if (this_thread.seat != nullptr) this_thread.seat->exit_handlers.run_quick();
  host_exit_at_once(code);
}

int host_cxa_atexit(void (*function)(), void* argument, void* library) {
  Seat* seat = seat_of(library);
  if (seat == nullptr) return next_cxa_atexit(function, argument, library);
  seat->exit_handlers.add({function, argument, library, ExitHandler::Takes::argument});
  return 0;
}

void host_cxa_finalize(void* library) {
  Seat* seat = seat_of(library);
  if (seat == nullptr)
    next_cxa_finalize(library);
  else if (library != nullptr)
    seat->exit_handlers.run_of(library);
}

int host_on_exit(void (*function)(), void* argument) {
  Seat* seat = this_thread.seat;
  if (seat == nullptr) return next_on_exit(function, argument);
  seat->exit_handlers.add({function, argument, nullptr, ExitHandler::Takes::status_and_argument});
  return 0;
}

int host_at_quick_exit(void (*function)(), void* library) {
  Seat* seat = seat_of(library);
  if (seat == nullptr) return next_at_quick_exit(function, library);
  seat->exit_handlers.add_quick({function, nullptr, library, ExitHandler::Takes::argument});
  return 0;
}
}

}  // namespace heddle::host
