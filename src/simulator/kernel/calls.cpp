// System calls by number: futexes, and those that ask where a thread runs. All others go to the kernel.
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <climits>

#include "simulator/kernel/clock.hpp"
#include "simulator/kernel/futex.hpp"
#include "simulator/kernel/real.hpp"
#include "simulator/simulation.hpp"

namespace heddle::simulator {
namespace {

struct Words {
  long a, b, c, d, e, f;
};

long futex(const Words& w) {
  const auto* word = reinterpret_cast<const volatile std::uint32_t*>(w.a);
  const auto operation = static_cast<int>(w.b);
  const bool external = (operation & FUTEX_PRIVATE_FLAG) == 0;
  const auto* time = reinterpret_cast<const timespec*>(w.d);
  switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
      return futex_wait(word, static_cast<std::uint32_t>(w.c), time == nullptr ? never : in_future(*time), "futex",
                        external);
    case FUTEX_WAIT_BITSET: {
      const bool real_time = (operation & FUTEX_CLOCK_REALTIME) != 0;
      const Time until = time == nullptr ? never : at_time(*time, real_time ? CLOCK_REALTIME : CLOCK_MONOTONIC);
      return futex_wait(word, static_cast<std::uint32_t>(w.c), until, "futex", external);
    }
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET: {
      const auto most = static_cast<unsigned>(w.c);
      unsigned woken = futex_wake(word, most);
      if (external && woken < most) {
        const long others = system_call(SYS_futex, w.a, w.b, static_cast<long>(most - woken), w.d, w.e, w.f);
        if (others > 0) woken += static_cast<unsigned>(others);
      }
      return woken;
    }
    case FUTEX_CMP_REQUEUE:
      if (*word != static_cast<std::uint32_t>(w.f)) return -EAGAIN;
      [[fallthrough]];
    case FUTEX_REQUEUE: {
      enter_kernel(simulation->scheduler.machine().system_call);
      const auto* instead = reinterpret_cast<const volatile std::uint32_t*>(w.e);
      return simulation->scheduler.wake_and_move(name_of(word), static_cast<unsigned>(w.c), name_of(instead),
                                                 static_cast<unsigned>(w.d));
    }
    default:
      return -ENOSYS;
  }
}

long call(long number, const Words& w) {
  const Machine& machine = simulation->scheduler.machine();
  switch (number) {
    case SYS_futex:
      return futex(w);
    case SYS_membarrier:
      enter_kernel(machine.broadcast);
      simulation->scheduler.publish_stores();
      return 0;
    case SYS_getcpu:
      enter_kernel(machine.clock_read);
      if (w.a != 0) *reinterpret_cast<unsigned*>(w.a) = simulation->scheduler.core_of(*self);
      if (w.b != 0) *reinterpret_cast<unsigned*>(w.b) = simulation->scheduler.core_of(*self) / machine.cpus_per_socket;
      return 0;
    case SYS_mbind:
      return 0;
    case SYS_exit_group:
      finish();
      break;
    default:
      enter_kernel(machine.system_call);
  }
  return system_call(number, w.a, w.b, w.c, w.d, w.e, w.f);
}

}  // namespace
}  // namespace heddle::simulator

using heddle::simulator::self;
using heddle::simulator::simulation;

extern "C" {

long syscall(long number, ...) {
  va_list list;
  va_start(list, number);
  heddle::simulator::Words w{};
  for (long* word : {&w.a, &w.b, &w.c, &w.d, &w.e, &w.f}) *word = va_arg(list, long);
  va_end(list);
  if (self == nullptr)
    return heddle::simulator::with_errno(heddle::simulator::system_call(number, w.a, w.b, w.c, w.d, w.e, w.f));
  return heddle::simulator::with_errno(heddle::simulator::call(number, w));
}

void _exit(int code) {
  heddle::simulator::finish();
  heddle::simulator::system_call(SYS_exit_group, code);
  __builtin_unreachable();
}

int sched_yield() {
  if (self == nullptr) return static_cast<int>(heddle::simulator::system_call(SYS_sched_yield));
  ++self->counts.system_calls;
  heddle::simulator::drain();
  simulation->scheduler.yield();
  return 0;
}
}
