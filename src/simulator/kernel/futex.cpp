#include "simulator/kernel/futex.hpp"

#include <algorithm>
#include <cerrno>

#include "simulator/simulation.hpp"

namespace heddle::simulator {
namespace {

// How often a thread looks whether a process outside has changed its word.
constexpr Time look = 10'000'000 * nanosecond;

}  // namespace

long futex_wait(const volatile std::uint32_t* word, std::uint32_t value, Time until, const char* in, bool external) {
  Scheduler& scheduler = simulation->scheduler;
  enter_kernel(scheduler.machine().system_call);
  const void* const name = name_of(word);
  for (;;) {
    if (*word != value) return -EAGAIN;
    const Time next = external ? std::min(until, scheduler.clock + look) : until;
    if (scheduler.sleep(name, next, in, external)) return 0;
    if (scheduler.clock >= until) return -ETIMEDOUT;
    if (*word != value) return 0;
  }
}

unsigned futex_wake(const volatile std::uint32_t* word, unsigned n) {
  Scheduler& scheduler = simulation->scheduler;
  enter_kernel(scheduler.machine().system_call);
  const unsigned woken = scheduler.wake(name_of(word), n);
  spend(woken * scheduler.machine().wake);
  return woken;
}

}  // namespace heddle::simulator
