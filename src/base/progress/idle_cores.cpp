#include "base/progress/idle_cores.hpp"

#include <pthread.h>

#include <algorithm>
#include <system_error>

#include "base/threads/library_thread.hpp"

namespace heddle::progress {

namespace {

// Nanoseconds.
constexpr std::int64_t idle_timeout = 200'000;  // a progress thread stays running: several times the cost of calling it
constexpr std::int64_t max_slice = 100'000;     // of the worker; a thread that wants its core waits no longer than that
constexpr std::int64_t fresh = 10'000;          // several rounds of polls
constexpr std::int64_t saying_gap =
    2'000;  // from one publication of an idle core to the next: each takes a line from the senders
constexpr std::int64_t yield_alone = 1'500;    // another thread has run in a longer yield
constexpr std::int64_t shortest_rest = 2'000;  // from an order that moved nothing to the next, doubled each time
constexpr std::int64_t longest_rest = 50'000;
constexpr std::int64_t used_gap = 10'000;  // a poll takes a line from the program, for 0.1 to 0.3 us

constexpr std::uint32_t poll_gap = 4;          // pauses between two polls
constexpr std::uint32_t grace_pause = 20;      // pauses in which the program may take the seen event itself
constexpr std::uint32_t polls_per_yield = 16;  // of a worker that stays

}  // namespace

IdleCores::IdleCores(Attended& work, sync::Doorbell<platform::Native>& bell, const cpu_set_t& cores, Deferral deferral)
    : work_(work),
      bell_(bell),
      cores_(cores),
      direct_(deferral == Deferral::direct),
      used_gap_(deferral == Deferral::none ? used_gap : 0) {  // deferred sends do not wait
  try {
    worker_ = threads::make_library_thread([this] { work_for_detector(); });
    detector_ = threads::make_library_thread([this] { detect(); });
    const sched_param none{};
    const int refused = pthread_setschedparam(detector_.native_handle(), SCHED_IDLE, &none);
    if (refused != 0) throw std::system_error(refused, std::generic_category(), "SCHED_IDLE");
  } catch (...) {
    finish();
    throw;
  }
}

IdleCores::~IdleCores() { finish(); }

void IdleCores::finish() {
  ending_.store(true, std::memory_order_release);
  bell_.call();
  if (detector_.joinable()) detector_.join();
  errand_.send(end);
  if (worker_.joinable()) worker_.join();
}

bool IdleCores::available() {
  const std::int64_t now = Native::now();
  if (now - seen_.load(std::memory_order_relaxed) < fresh) return true;
  const std::int64_t asked = asked_.load(std::memory_order_relaxed);
  asked_.store(now, std::memory_order_relaxed);
  if (now - asked < idle_timeout) bell_.call_listener();
  return false;
}

void IdleCores::detect() {
  pthread_setaffinity_np(pthread_self(), sizeof cores_, &cores_);
  while (!ending_.load(std::memory_order_acquire)) {
    const std::uint32_t calls = bell_.calls.load(std::memory_order_acquire);
    seen_.store(not_polling, std::memory_order_relaxed);
    bell_.listen();
    Native::heavy_fence();
    const bool moved = (work_.ready() || work_.must_ask()) && send(help_fully);
    if (!moved && !ending_.load(std::memory_order_acquire)) {
      bell_.await_call(calls);
      seen_.store(long_ago, std::memory_order_relaxed);
      send(help);  // the caller had a reason
    }
    // Without the yield a thread that waits and yields on this core would lose it until the next tick of the clock.
    poll_around(
        [] {
          sched_yield();
          return true;
        },
        [this] { return send(help); });
  }
  bell_.listen_no_more();
}

// Until nothing has moved for a while, or the core can't be kept. act() does the work and returns true if it moved
// anything, as does this.
template <class Keep, class Act>
bool IdleCores::poll_around(Keep&& keep, Act&& act) {
  bool any = false;
  std::int64_t now = Native::now();
  std::int64_t moved = now;
  std::int64_t not_before = 0;
  std::int64_t look_at = 0;
  std::int64_t said = 0;  // publication that this core idles
  std::int64_t rest = shortest_rest;
  std::uint32_t taken = work_.taken();
  bool left_unsent = false;  // by the last attempt
  for (; now - moved < idle_timeout && !ending_.load(std::memory_order_relaxed); now = Native::now()) {
    if (!keep()) break;
    if (now - said >= saying_gap) {
      said = now;
      seen_.store(now, std::memory_order_relaxed);
    }
    if (now < look_at) {
      Native::pause(poll_gap);
      continue;
    }
    if (const std::uint32_t by_now = work_.taken(); by_now != taken) {
      taken = by_now;
      moved = now;
      look_at = now + used_gap_;
      used_.store(now, std::memory_order_relaxed);
      bell_.listen_no_more();
      continue;
    }
    listen_unless_used();
    // An attempt that has moved nothing does not cover a send that the program has deferred since.
    const bool unsent = work_.any_unsent();
    if ((!unsent || left_unsent) && (now < not_before || !work_.ready())) {
      left_unsent &= unsent;
      Native::pause(poll_gap);
      continue;
    }
    if (!unsent) {
      Native::pause(grace_pause);
      if (work_.taken() != taken) continue;
    }
    if (act()) {
      any = true;
      moved = Native::now();
      rest = shortest_rest;
    } else {
      not_before = now + rest;
      rest = std::min(2 * rest, longest_rest);
    }
    taken = work_.taken();
    left_unsent = unsent && work_.any_unsent();
  }
  return any;
}

// True if the order moved anything.
bool IdleCores::send(Order order) {
  errand_.send(order);
  if (direct_) {
    errand_.sleep_until_done(order);
  } else {
    while (!errand_.done()) sched_yield();
  }
  return errand_.result();
}

void IdleCores::work_for_detector() {
  pthread_setaffinity_np(pthread_self(), sizeof cores_, &cores_);
  for (;;) {
    const auto order = static_cast<Order>(errand_.await());
    if (order == end) return;
    bool moved = carry_out(order);
    // A detector in its last poll before both go to sleep does not publish that it polls: sends deferred from now on
    // must ring.
    if (direct_ && order == help) moved |= stay();
    // The detector may lose its core before it does.
    listen_unless_used();
    errand_.end(moved, direct_);
  }
}

bool IdleCores::carry_out(Order order) {
  const std::int64_t begin = Native::now();
  bool moved = false;
  PollResult last;
  do {
    last = work_.advance(order == help_fully);
    moved |= last.made_progress;
  } while (last.made_progress && Native::now() - begin < max_slice);
  return moved;
}

// The worker polls by itself, on the core that the detector has found.
bool IdleCores::stay() {
  std::uint32_t looks = 0;
  const bool moved = poll_around(
      [&] {
        if (++looks % polls_per_yield != 0) return true;
        const std::int64_t before = Native::now();
        sched_yield();
        return Native::now() - before < yield_alone;
      },
      [this] { return work_.advance(false).made_progress; });
  seen_.store(long_ago, std::memory_order_relaxed);
  return moved;
}

void IdleCores::listen_unless_used() {
  if (Native::now() - used_.load(std::memory_order_relaxed) > idle_timeout) bell_.listen();
}

}  // namespace heddle::progress
