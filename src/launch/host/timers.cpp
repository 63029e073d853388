// Timers signal a thread of the rank that made them, so their signals find it.
#include "launch/host/timers.hpp"
#include "base/platform/next_function.hpp"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "launch/host/life.hpp"
#include "launch/host/seat.hpp"

namespace heddle::host {
namespace {

constinit platform::Next<int(clockid_t, sigevent*, timer_t*)> next_timer_create("timer_create");
constinit platform::Next<unsigned(unsigned)> next_alarm("alarm");
constinit platform::Next<int(__itimer_which_t, const itimerval*, itimerval*)> next_setitimer("setitimer");
constinit platform::Next<int(__itimer_which_t, itimerval*)> next_getitimer("getitimer");

sigevent signal_to(pid_t thread, int signal) {
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = signal;
  event._sigev_un._tid = thread;
  return event;
}

timespec precise(const timeval& time) { return {time.tv_sec, time.tv_usec * 1000}; }
timeval coarse(const timespec& time) { return {time.tv_sec, (time.tv_nsec + 999) / 1000}; }

}  // namespace

int Alarm::get(itimerval& left) {
  const std::lock_guard guard(mutex_);
  left = {};
  itimerspec found{};
  if (!is_made_) return 0;
  const int result = timer_gettime(timer_, &found);
  left = {coarse(found.it_interval), coarse(found.it_value)};
  return result;
}

int Alarm::set(pid_t thread, const itimerval& when, itimerval* before) {
  const std::lock_guard guard(mutex_);
  if (!is_made_) {
    sigevent event = signal_to(thread, SIGALRM);
    if (next_timer_create(CLOCK_MONOTONIC, &event, &timer_) != 0) return -1;
    is_made_ = true;
  }
  const itimerspec wanted{precise(when.it_interval), precise(when.it_value)};
  itimerspec old{};
  if (timer_settime(timer_, 0, &wanted, &old) != 0) return -1;
  if (before != nullptr) *before = {coarse(old.it_interval), coarse(old.it_value)};
  return 0;
}

extern "C" {

[[gnu::visibility("default")]] int host_timer_create(clockid_t, sigevent*, timer_t*) asm("timer_create");
[[gnu::visibility("default")]] unsigned host_alarm(unsigned) asm("alarm");
[[gnu::visibility("default")]] int host_setitimer(__itimer_which_t, const itimerval*, itimerval*) asm("setitimer");
[[gnu::visibility("default")]] int host_getitimer(__itimer_which_t, itimerval*) asm("getitimer");

int host_timer_create(clockid_t clock, sigevent* event, timer_t* timer) {
  const Seat* seat = this_thread.seat;
  const bool to_process = event == nullptr || event->sigev_notify == SIGEV_SIGNAL;
  if (seat == nullptr || is_forked() || !to_process) return next_timer_create(clock, event, timer);
  sigevent own = signal_to(seat->first_thread.load(), event != nullptr ? event->sigev_signo : SIGALRM);
  if (event != nullptr) own.sigev_value = event->sigev_value;
  return next_timer_create(clock, &own, timer);
}

unsigned host_alarm(unsigned seconds) {
  Seat* seat = this_thread.seat;
  if (seat == nullptr || is_forked()) return next_alarm(seconds);
  itimerval before{};
  seat->alarm.set(seat->first_thread.load(), {{}, {static_cast<time_t>(seconds), 0}}, &before);
  const auto left = static_cast<unsigned>(before.it_value.tv_sec);
  return before.it_value.tv_usec >= 500000 || (left == 0 && before.it_value.tv_usec != 0) ? left + 1 : left;
}

int host_setitimer(__itimer_which_t which, const itimerval* when, itimerval* before) {
  Seat* seat = this_thread.seat;
  if (seat == nullptr || which != ITIMER_REAL || is_forked()) return next_setitimer(which, when, before);
  if (when == nullptr) return before != nullptr ? seat->alarm.get(*before) : 0;
  return seat->alarm.set(seat->first_thread.load(), *when, before);
}

int host_getitimer(__itimer_which_t which, itimerval* left) {
  Seat* seat = this_thread.seat;
  if (seat == nullptr || which != ITIMER_REAL || is_forked()) return next_getitimer(which, left);
  return seat->alarm.get(*left);
}
}

}  // namespace heddle::host
