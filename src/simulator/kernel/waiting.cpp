// Waiting for descriptors: a thread looks, and sleeps for a while in virtual time.
#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/syscall.h>

#include <algorithm>

#include "simulator/kernel/real.hpp"
#include "simulator/kernel/timers.hpp"
#include "simulator/simulation.hpp"

namespace heddle::simulator {
namespace {

constexpr Time look = 20'000 * nanosecond;  // between two looks

// `ready` returns how many descriptors are, or a negative number for an error.
template <class Ready>
int wait(Ready ready, int milliseconds, const char* in) {
  Scheduler& scheduler = simulation->scheduler;
  enter_kernel(scheduler.machine().system_call);
  const Time until =
      milliseconds < 0 ? never : scheduler.clock + static_cast<Time>(milliseconds) * 1'000'000 * nanosecond;
  for (;;) {
    const Time next = expire_timers();
    if (const long found = ready(); found != 0 || scheduler.clock >= until) return static_cast<int>(with_errno(found));
    // While a timer is set, something happens here.
    scheduler.sleep(nullptr, std::min({until, next, scheduler.clock + look}), in, next == never);
  }
}

}  // namespace
}  // namespace heddle::simulator

using heddle::simulator::self;
using heddle::simulator::system_call;
using heddle::simulator::with_errno;

extern "C" {

int poll(pollfd* list, nfds_t count, int milliseconds) {
  const auto look = [&](int time) {
    return system_call(SYS_poll, reinterpret_cast<long>(list), static_cast<long>(count), time);
  };
  if (self == nullptr) return static_cast<int>(with_errno(look(milliseconds)));
  return heddle::simulator::wait([&] { return look(0); }, milliseconds, "poll");
}

int epoll_wait(int set, epoll_event* events, int most, int milliseconds) {
  const auto look = [&](int time) {
    return system_call(SYS_epoll_wait, set, reinterpret_cast<long>(events), most, time);
  };
  if (self == nullptr) return static_cast<int>(with_errno(look(milliseconds)));
  return heddle::simulator::wait([&] { return look(0); }, milliseconds, "epoll_wait");
}
}
