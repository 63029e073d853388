#include "launch/host/signals.hpp"
#include "base/platform/next_function.hpp"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "launch/host/life.hpp"
#include "launch/host/seat.hpp"

namespace heddle::host {
namespace {

constexpr int deadly[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS};
constexpr std::size_t stack_bytes = 64 * 1024;

constinit std::atomic<Seat*> seats{nullptr};  // all that receive signals, through Seat::next

constinit platform::Next<int(int, const struct sigaction*, struct sigaction*)> next_sigaction("sigaction");
constinit platform::Next<int(pid_t, int)> next_kill("kill");
constinit platform::Next<int(int)> next_raise("raise");

// Nothing interrupts the thread while this lives.
class Uninterrupted {
 public:
  Uninterrupted() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~Uninterrupted() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  Uninterrupted(const Uninterrupted&) = delete;
  Uninterrupted& operator=(const Uninterrupted&) = delete;

 private:
  sigset_t before_;
};

// Only system calls and stores from here on: the thread may be anywhere.

void send(pid_t thread, int signal) { syscall(SYS_tgkill, syscall(SYS_getpid), thread, signal); }

void note_death(int signal) {
  const Seat* seat = this_thread.seat;
  std::int32_t running = 0;
  if (seat != nullptr && seat->record != nullptr && !is_forked())
    seat->record->end.compare_exchange_strong(running, boot::ended(signal));
}

enum class Default { end, stop, nothing };
Default default_of(int signal) {
  switch (signal) {
    case SIGCHLD:
    case SIGCONT:
    case SIGURG:
    case SIGWINCH:
      return Default::nothing;
    case SIGSTOP:
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
      return Default::stop;
    default:
      return Default::end;
  }
}

void act_by_default(int signal) {
  switch (default_of(signal)) {
    case Default::nothing:
      break;
    case Default::stop:
      syscall(SYS_kill, syscall(SYS_getpid), SIGSTOP);
      break;
    case Default::end: {
      note_death(signal);
      struct sigaction by_default {};
      next_sigaction(signal, &by_default, nullptr);
      send(gettid(), signal);  // delivered when the handler that we are in returns
    }
  }
}

bool is_default(const struct sigaction& action) { return action.sa_handler == SIG_DFL; }

// Runs the program's own handler with the signals blocked that it wants blocked; we were called with all of them so.
void run_handler(const struct sigaction& action, int signal, siginfo_t* info, void* context) {
  sigset_t mask = static_cast<ucontext_t*>(context)->uc_sigmask;
  for (int other = 1; other < NSIG; ++other)
    if (sigismember(&action.sa_mask, other) == 1) sigaddset(&mask, other);
  if ((action.sa_flags & SA_NODEFER) == 0) sigaddset(&mask, signal);
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  if ((action.sa_flags & SA_SIGINFO) != 0)
    action.sa_sigaction(signal, info, context);
  else
    action.sa_handler(signal);
}

bool is_deadly(int signal) {
  for (int one : deadly)
    if (signal == one) return true;
  return false;
}

bool is_for_the_process(int signal, const siginfo_t& info) {
  if (is_deadly(signal) && info.si_code > 0) return false;      // the thread has caused it
  return info.si_code != SI_TKILL && info.si_code != SI_TIMER;  // timers are of ranks (timers.cpp)
}

// A signal of a clock of the process' time, which any rank may have set: dropped for ranks that did not.
bool is_of_a_clock(int signal, const siginfo_t& info) {
  return (signal == SIGVTALRM || signal == SIGPROF) && info.si_code == SI_KERNEL;
}

void deliver(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  Seat* seat = this_thread.seat;
  if (is_for_the_process(signal, *info) && seats.load() != nullptr && !is_forked()) {
    for (const Seat* one = seats.load(); one != nullptr; one = one->next)
      if (!one->over.load() && !(is_of_a_clock(signal, *info) && is_default(one->signals.get(signal))))
        send(one->first_thread.load(), signal);
  } else {
    struct sigaction action {};
    if (seat != nullptr) action = seat->signals.take(signal);
    if (is_default(action))
      act_by_default(signal);
    else if (action.sa_handler != SIG_IGN)
      run_handler(action, signal, info, context);
  }
  errno = error;
}

// The kernel's action for this signal is ours from here on.
void take_over(int signal, int flags) {
  struct sigaction action {};
  action.sa_sigaction = deliver;
  action.sa_flags = SA_SIGINFO | flags;
  sigfillset(&action.sa_mask);
  next_sigaction(signal, &action, nullptr);
}

using Handler = void (*)(int);

Handler set_handler(int signal, Handler handler, int flags) {
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  return sigaction(signal, &action, &before) == 0 ? before.sa_handler : SIG_ERR;
}

}  // namespace

SignalActions::SignalActions() {
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction inherited {};
    if (next_sigaction(signal, nullptr, &inherited) == 0 && inherited.sa_handler == SIG_IGN)
      actions_[static_cast<std::size_t>(signal)] = inherited;
  }
}

struct sigaction SignalActions::get(int signal) const {
  const Uninterrupted uninterrupted;
  const std::lock_guard guard(mutex_);
  return actions_[static_cast<std::size_t>(signal)];
}

void SignalActions::set(int signal, const struct sigaction& action) {
  const Uninterrupted uninterrupted;
  const std::lock_guard guard(mutex_);
  actions_[static_cast<std::size_t>(signal)] = action;
}

struct sigaction SignalActions::take(int signal) {
  const Uninterrupted uninterrupted;
  const std::lock_guard guard(mutex_);
  struct sigaction& own = actions_[static_cast<std::size_t>(signal)];
  const struct sigaction taken = own;
  if ((static_cast<unsigned>(own.sa_flags) & SA_RESETHAND) != 0) own.sa_handler = SIG_DFL;
  return taken;
}

void watch_for_deaths() {
  for (int signal : deadly) take_over(signal, SA_ONSTACK);
}

void receive_signals(Seat& seat) {
  seat.next = seats.load();
  while (!seats.compare_exchange_weak(seat.next, &seat)) {
  }
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

[[gnu::visibility("default")]] int host_sigaction(int, const struct sigaction*, struct sigaction*) asm("sigaction");
[[gnu::visibility("default")]] Handler host_signal(int, Handler) asm("signal");
[[gnu::visibility("default")]] Handler host_bsd_signal(int, Handler) asm("bsd_signal");
[[gnu::visibility("default")]] Handler host_sysv_signal(int, Handler) asm("__sysv_signal");
[[gnu::visibility("default")]] int host_kill(pid_t, int) asm("kill");
[[gnu::visibility("default")]] int host_raise(int) asm("raise");

int host_sigaction(int signal, const struct sigaction* action, struct sigaction* before) {
  Seat* seat = this_thread.seat;
  // Also covers libc's own refusals: SIGKILL, SIGSTOP, its own signals, no signals at all.
  const bool can_be_caught = signal > 0 && signal < NSIG && signal != SIGKILL && signal != SIGSTOP &&
                             (signal < __SIGRTMIN || signal >= SIGRTMIN);
  if (seat == nullptr || is_forked() || !can_be_caught) return next_sigaction(signal, action, before);
  const struct sigaction old = seat->signals.get(signal);
  if (action != nullptr) {
    seat->signals.set(signal, *action);
    const int flags = is_deadly(signal) ? SA_ONSTACK : action->sa_flags & SA_ONSTACK;
    take_over(signal, flags | (action->sa_flags & (SA_RESTART | SA_NOCLDSTOP | SA_NOCLDWAIT)));
  }
  if (before != nullptr) *before = old;
  return 0;
}

Handler host_signal(int signal, Handler handler) { return set_handler(signal, handler, SA_RESTART); }
Handler host_bsd_signal(int signal, Handler handler) { return set_handler(signal, handler, SA_RESTART); }
Handler host_sysv_signal(int signal, Handler handler) {
  return set_handler(signal, handler, static_cast<int>(SA_RESETHAND) | SA_NODEFER);
}

// To the calling thread's rank itself: where no handler of ours would run, the report of its death is written
// beforehand.
int send_to_own_rank(const Seat& seat, pid_t thread, int signal) {
  const bool is_caught = signal != SIGKILL && signal > 0 && signal < NSIG && !is_default(seat.signals.get(signal));
  if (signal > 0 && signal < NSIG && !is_caught && default_of(signal) == Default::end && !is_deadly(signal))
    note_death(signal);
  return static_cast<int>(syscall(SYS_tgkill, syscall(SYS_getpid), thread, signal));
}

int host_kill(pid_t pid, int signal) {
  const Seat* seat = this_thread.seat;
  if (seat == nullptr || is_forked() || pid != getpid()) return next_kill(pid, signal);
  return send_to_own_rank(*seat, seat->first_thread.load(), signal);
}

int host_raise(int signal) {
  const Seat* seat = this_thread.seat;
  if (seat == nullptr || is_forked()) return next_raise(signal);
  return send_to_own_rank(*seat, gettid(), signal);
}
}

}  // namespace heddle::host
