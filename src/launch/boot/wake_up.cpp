#include "launch/boot/wake_up.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <system_error>
#include <thread>

#include "base/threads/signals_blocked.hpp"

namespace heddle::boot {
namespace {

std::int64_t now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

// Each passes the turn on as often as the other; the median of so few tolerates two disturbed ones.
constexpr std::uint32_t turns = 7;

// Shared by the two threads. It lives until both have left it, since the caller may give up while the other sleeps.
struct Exchange {
  explicit Exchange(std::int64_t end) : deadline(end) {}

  const std::int64_t deadline;
  std::atomic<std::uint32_t> turn{0};
  std::int64_t passed_on = 0;                           // time at which the turn was passed on
  std::array<std::atomic<std::int64_t>, turns> cost{};  // cost of the wake-up that passed turn i on; 0: no thread slept

  void pass_on() {
    passed_on = now();
    turn.fetch_add(1, std::memory_order_release);
    syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  }

  // Sleeps until turn `current` has been passed on; false: the deadline has come.
  bool await_end_of(std::uint32_t current) {
    bool slept = false;
    while (turn.load(std::memory_order_acquire) == current) {
      const std::int64_t left = deadline - now();
      if (left <= 0) return false;
      const timespec longest{0, left};
      slept |= syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, current, &longest, nullptr, 0) == 0;
    }
    if (slept) cost[current].store(now() - passed_on, std::memory_order_relaxed);
    return true;
  }
};
static_assert(wake_up_budget < 1'000'000'000, "left in one timespec's nanoseconds");

// Turns 0, 2, 4, ... are passed on by the second thread, the others by the caller.
void help(Exchange& exchange) {
  for (std::uint32_t turn = 0; turn < turns; turn += 2) {
    exchange.pass_on();
    if (turn + 1 < turns && !exchange.await_end_of(turn + 1)) return;
  }
}
void lead(Exchange& exchange) {
  for (std::uint32_t turn = 0; turn < turns; turn += 2) {
    if (!exchange.await_end_of(turn)) return;
    if (turn + 1 < turns) exchange.pass_on();
  }
}

// False: the thread could not be started. It handles no signal of the program.
bool start_library_thread(const std::shared_ptr<Exchange>& exchange) {
  const threads::SignalsBlocked blocked;
  try {
    std::thread([exchange] { help(*exchange); }).detach();
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

}  // namespace

std::int64_t measure_wake_up() {
  const auto exchange = std::make_shared<Exchange>(now() + wake_up_budget);
  if (!start_library_thread(exchange)) return wake_up_budget;
  lead(*exchange);
  std::array<std::int64_t, turns> found{};
  std::size_t n = 0;
  for (const auto& cost : exchange->cost)
    if (const std::int64_t one = cost.load(std::memory_order_relaxed); one != 0) found[n++] = one;
  if (n == 0) return wake_up_budget;
  const auto median = found.begin() + static_cast<std::ptrdiff_t>(n / 2);
  std::nth_element(found.begin(), median, found.begin() + static_cast<std::ptrdiff_t>(n));
  return std::min(*median, wake_up_budget);
}

}  // namespace heddle::boot
