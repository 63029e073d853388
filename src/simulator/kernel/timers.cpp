// timerfd: a descriptor that is readable once a time has come. The kernel's timers know real time only, so each is an eventfd
// here, which is written to when a thread looks at descriptors (waiting.cpp) and the virtual time has come.
#include "simulator/kernel/timers.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <map>

#include "simulator/kernel/clock.hpp"
#include "simulator/kernel/real.hpp"
#include "simulator/simulation.hpp"

namespace heddle::simulator {
namespace {

struct Timer {
  clockid_t clock = CLOCK_MONOTONIC;
  int write_end = -1;  // a descriptor of its own: the program may close the other one
  Time due = never;
  Time interval = 0;
};

// By descriptor, of the caller's table: ranks that are threads have one each. One thread runs at a time.
std::map<int, Timer>& timers() {
  static std::map<int, std::map<int, Timer>> all;
  return all[self->files];
}
// Null: the descriptor is none of ours.
Timer* find(int descriptor) {
  if (self == nullptr) return nullptr;
  const auto found = timers().find(descriptor);
  return found == timers().end() ? nullptr : &found->second;
}

Time length(const timespec& time) {
  return (static_cast<Time>(time.tv_sec) * 1'000'000'000 + static_cast<Time>(time.tv_nsec)) * nanosecond;
}

timespec split(Time time) {
  const Time nanoseconds = time / nanosecond;
  return {static_cast<time_t>(nanoseconds / 1'000'000'000), static_cast<long>(nanoseconds % 1'000'000'000)};
}

itimerspec left(const Timer& timer) {
  const Time now = simulation->scheduler.clock;
  // A timer that has expired and was not looked at since is about to.
  return {split(timer.interval), timer.due == never ? timespec{} : split(std::max(timer.due, now + nanosecond) - now)};
}

}  // namespace

Time expire_timers() {
  const Time now = simulation->scheduler.clock;
  Time next = never;
  for (auto& [descriptor, timer] : timers()) {
    if (timer.due <= now) {
      const std::uint64_t times = timer.interval == 0 ? 1 : (now - timer.due) / timer.interval + 1;
      timer.due = timer.interval == 0 ? never : timer.due + times * timer.interval;
      system_call(SYS_write, timer.write_end, reinterpret_cast<long>(&times), sizeof times);
    }
    next = std::min(next, timer.due);
  }
  return next;
}

}  // namespace heddle::simulator

using namespace heddle::simulator;

extern "C" {

int timerfd_create(clockid_t clock, int flags) noexcept {
  if (self == nullptr) return static_cast<int>(with_errno(system_call(SYS_timerfd_create, clock, flags)));
  enter_kernel(simulation->scheduler.machine().system_call);
  static_assert(int{TFD_CLOEXEC} == int{EFD_CLOEXEC} && int{TFD_NONBLOCK} == int{EFD_NONBLOCK});
  const long made = with_errno(system_call(SYS_eventfd2, 0, flags));
  if (made < 0) return -1;
  Timer timer{.clock = clock, .write_end = static_cast<int>(system_call(SYS_fcntl, made, F_DUPFD_CLOEXEC, 0))};
  if (timer.write_end < 0) {
    system_call(SYS_close, made);
    return static_cast<int>(with_errno(timer.write_end));
  }
  Timer& there = timers()[static_cast<int>(made)];  // or what is left of one that was closed
  if (there.write_end >= 0) system_call(SYS_close, there.write_end);
  there = timer;
  return static_cast<int>(made);
}

int timerfd_settime(int descriptor, int flags, const itimerspec* when, itimerspec* before) noexcept {
  Timer* const found = find(descriptor);
  if (found == nullptr)
    return static_cast<int>(with_errno(system_call(SYS_timerfd_settime, descriptor, flags, reinterpret_cast<long>(when),
                                                   reinterpret_cast<long>(before))));
  enter_kernel(simulation->scheduler.machine().system_call);
  Timer& timer = *found;
  if (before != nullptr) *before = left(timer);
  std::uint64_t expired = 0;  // this call forgets that it has
  const std::uint64_t one = 1;
  system_call(SYS_write, timer.write_end, reinterpret_cast<long>(&one), sizeof one);  // so that the read does not block
  system_call(SYS_read, timer.write_end, reinterpret_cast<long>(&expired), sizeof expired);
  timer.interval = length(when->it_interval);
  if (when->it_value.tv_sec == 0 && when->it_value.tv_nsec == 0)
    timer.due = never;
  else
    timer.due = (flags & TFD_TIMER_ABSTIME) != 0 ? at_time(when->it_value, timer.clock) : in_future(when->it_value);
  return 0;
}

int timerfd_gettime(int descriptor, itimerspec* now) noexcept {
  const Timer* const found = find(descriptor);
  if (found == nullptr)
    return static_cast<int>(with_errno(system_call(SYS_timerfd_gettime, descriptor, reinterpret_cast<long>(now))));
  *now = left(*found);
  return 0;
}

// A timer of the old table is none in the new one.
int unshare(int flags) noexcept {
  const long result = with_errno(system_call(SYS_unshare, flags));
  if (self != nullptr && result == 0 && (flags & CLONE_FILES) != 0) self->files = self->number;
  return static_cast<int>(result);
}
}
