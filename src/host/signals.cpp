#include "host/signals.hpp"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/next.hpp"
#include "host/seat.hpp"

namespace heddle::host {
namespace {

constexpr int deadly[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS};
constexpr std::size_t stack_bytes = 64 * 1024;

// Only system calls and stores: the thread may be anywhere.
void note_death(int signal) {
  const Seat* seat = this_thread.seat;
  std::int32_t running = 0;
  if (seat != nullptr && seat->record != nullptr)
    seat->record->end.compare_exchange_strong(running, boot::ended(signal));
}

void die(int signal) {
  note_death(signal);
  ::signal(signal, SIG_DFL);
  syscall(SYS_tgkill, syscall(SYS_getpid), syscall(SYS_gettid), signal);  // delivered when this handler returns
}

constinit Next<int(pid_t, int)> next_kill("kill");

}  // namespace

struct sigaction SignalActions::get(int signal) const {
  const std::lock_guard guard(mutex_);
  return actions_[static_cast<std::size_t>(signal)];
}

void SignalActions::set(int signal, const struct sigaction& action) {
  const std::lock_guard guard(mutex_);
  actions_[static_cast<std::size_t>(signal)] = action;
}

void watch_for_deaths() {
  struct sigaction action {};
  action.sa_handler = die;
  action.sa_flags = SA_ONSTACK;
  for (int signal : deadly) sigaction(signal, &action, nullptr);
}

void take_signal_stack() {
  void* stack = mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stack == MAP_FAILED) return;
  this_thread.signal_stack = stack;
  const stack_t description{.ss_sp = stack, .ss_flags = 0, .ss_size = stack_bytes};
  sigaltstack(&description, nullptr);
}

void give_back_signal_stack() {
  if (this_thread.signal_stack == nullptr) return;
  const stack_t none{.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
  sigaltstack(&none, nullptr);
  munmap(this_thread.signal_stack, stack_bytes);
  this_thread.signal_stack = nullptr;
}

extern "C" {

[[gnu::visibility("default")]] int host_kill(pid_t, int) asm("kill");

// A rank that kills itself would leave no word of it where no handler runs.
int host_kill(pid_t pid, int signal) {
  const Seat* seat = this_thread.seat;
  if (seat == nullptr || pid != getpid()) return next_kill(pid, signal);
  if (signal == SIGKILL) note_death(signal);
  return static_cast<int>(syscall(SYS_tgkill, syscall(SYS_getpid), seat->first_thread, signal));
}
}

}  // namespace heddle::host
