#include "simulator/kernel/clock.hpp"

#include <errno.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "simulator/kernel/real.hpp"
#include "simulator/simulation.hpp"

namespace heddle::simulator {
namespace {

constexpr Time second = 1'000'000'000 * nanosecond;
// The clocks show this when a process begins, in every run.
constexpr std::int64_t monotonic_start = 1000;
constexpr std::int64_t real_time_start = 1'700'000'000;

std::int64_t start_of(clockid_t clock) {
  switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_TAI:
      return real_time_start;
    case CLOCK_PROCESS_CPUTIME_ID:
    case CLOCK_THREAD_CPUTIME_ID:
      return 0;
    default:
      return monotonic_start;
  }
}

Time length(const timespec& time) {
  if (time.tv_sec < 0) return 0;
  if (time.tv_sec > 10'000'000) return never;
  return static_cast<Time>(time.tv_sec) * second + static_cast<Time>(time.tv_nsec) * nanosecond;
}

int sleep_until(Time until) {
  enter_kernel(simulation->scheduler.machine().system_call);
  simulation->scheduler.sleep(nullptr, until, "nanosleep");
  return 0;
}

}  // namespace

timespec read_clock(clockid_t clock) {
  spend(simulation->scheduler.machine().clock_read);
  simulation->scheduler.catch_up();  // no earlier than what others have read
  const Time now = simulation->scheduler.clock;
  return {static_cast<time_t>(start_of(clock) + static_cast<std::int64_t>(now / second)),
          static_cast<long>(now % second / nanosecond)};
}

Time at_time(const timespec& time, clockid_t clock) { return length({time.tv_sec - start_of(clock), time.tv_nsec}); }

Time in_future(const timespec& time) {
  const Time longer = length(time);
  return longer == never ? never : simulation->scheduler.clock + longer;
}

}  // namespace heddle::simulator

using heddle::simulator::self;
using heddle::simulator::system_call;
using heddle::simulator::with_errno;

extern "C" {

int clock_gettime(clockid_t clock, timespec* time) {
  if (self == nullptr)
    return static_cast<int>(with_errno(system_call(SYS_clock_gettime, clock, reinterpret_cast<long>(time))));
  *time = heddle::simulator::read_clock(clock);
  return 0;
}

int gettimeofday(timeval* time, void* zone) {
  if (self == nullptr)
    return static_cast<int>(
        with_errno(system_call(SYS_gettimeofday, reinterpret_cast<long>(time), reinterpret_cast<long>(zone))));
  const timespec now = heddle::simulator::read_clock(CLOCK_REALTIME);
  *time = {now.tv_sec, now.tv_nsec / 1000};
  return 0;
}

time_t time(time_t* where) {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (where != nullptr) *where = now.tv_sec;
  return now.tv_sec;
}

int nanosleep(const timespec* how_long, timespec* left) {
  if (self == nullptr)
    return static_cast<int>(
        with_errno(system_call(SYS_nanosleep, reinterpret_cast<long>(how_long), reinterpret_cast<long>(left))));
  return heddle::simulator::sleep_until(heddle::simulator::in_future(*how_long));
}

int clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* left) {
  if (self == nullptr)
    return static_cast<int>(
        -system_call(SYS_clock_nanosleep, clock, flags, reinterpret_cast<long>(time), reinterpret_cast<long>(left)));
  return heddle::simulator::sleep_until(flags == TIMER_ABSTIME ? heddle::simulator::at_time(*time, clock)
                                                               : heddle::simulator::in_future(*time));
}

int usleep(useconds_t microseconds) {
  const timespec how_long{static_cast<time_t>(microseconds / 1'000'000),
                          static_cast<long>(microseconds % 1'000'000) * 1000};
  return nanosleep(&how_long, nullptr);
}

unsigned sleep(unsigned seconds) {
  const timespec how_long{static_cast<time_t>(seconds), 0};
  nanosleep(&how_long, nullptr);
  return 0;
}
}
