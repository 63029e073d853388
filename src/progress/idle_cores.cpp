#include "progress/idle_cores.hpp"

#include <pthread.h>

#include <algorithm>
#include <system_error>

#include "threads/helper.hpp"

namespace heddle::progress {

namespace {

// Nanoseconds.
constexpr std::int64_t linger = 200'000;       // a helper stays awake: several times what calling it costs
constexpr std::int64_t spell = 100'000;        // of the hand; a thread that wants its core waits no longer than that
constexpr std::int64_t fresh = 10'000;         // several looks around
constexpr std::int64_t yield_alone = 1'500;    // a yield that takes longer has run somebody
constexpr std::int64_t shortest_rest = 2'000;  // from an order that moved nothing to the next, doubled each time
constexpr std::int64_t longest_rest = 50'000;

constexpr std::uint32_t glance = 4;            // pauses between two looks
constexpr std::uint32_t grace = 20;            // pauses in which the program may take itself what has been seen
constexpr std::uint32_t looks_per_yield = 16;  // of a hand that stays

}  // namespace

IdleCores::IdleCores(Attended& work, sync::Doorbell<platform::Native>& bell, const cpu_set_t& cores, Deferral deferral)
    : work_(work), bell_(bell), cores_(cores), direct_(deferral == Deferral::direct) {
  try {
    hand_ = threads::make_helper([this] { hand(); });
    scout_ = threads::make_helper([this] { scout(); });
    const sched_param none{};
    const int refused = pthread_setschedparam(scout_.native_handle(), SCHED_IDLE, &none);
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
  if (scout_.joinable()) scout_.join();
  order_.store(end, std::memory_order_release);
  Native::unpark(order_, 1, platform::Scope::process);
  if (hand_.joinable()) hand_.join();
}

bool IdleCores::at_hand() {
  const std::int64_t now = Native::now();
  if (now - seen_.load(std::memory_order_relaxed) < fresh) return true;
  const std::int64_t asked = asked_.load(std::memory_order_relaxed);
  asked_.store(now, std::memory_order_relaxed);
  if (now - asked < linger) bell_.call_listener();
  return false;
}

void IdleCores::scout() {
  pthread_setaffinity_np(pthread_self(), sizeof cores_, &cores_);
  while (!ending_.load(std::memory_order_acquire)) {
    const std::uint32_t calls = bell_.calls.load(std::memory_order_acquire);
    seen_.store(nobody_looks, std::memory_order_relaxed);
    bell_.listen();
    Native::heavy_fence();
    const bool moved = work_.ready() && send(help_thoroughly);
    if (!moved && !ending_.load(std::memory_order_acquire)) {
      bell_.await_call(calls);
      seen_.store(long_ago, std::memory_order_relaxed);
      send(help);  // whoever called had a reason
    }
    // Without the yield a thread that waits and yields on this core would lose it until the next tick of the clock.
    look_around(
        [] {
          sched_yield();
          return true;
        },
        [this] { return send(help); });
  }
  bell_.listen_no_more();
}

// Until nothing has moved for a while, or the core can't be kept. What there is to do is act()'s, which says whether it moved
// anything, as does this.
template <class Keep, class Act>
bool IdleCores::look_around(Keep&& keep, Act&& act) {
  bool any = false;
  std::int64_t now = Native::now();
  std::int64_t moved = now;
  std::int64_t not_before = 0;
  std::int64_t rest = shortest_rest;
  std::uint32_t taken = work_.taken();
  for (; now - moved < linger && !ending_.load(std::memory_order_relaxed); now = Native::now()) {
    if (!keep()) break;
    seen_.store(now, std::memory_order_relaxed);
    if (const std::uint32_t by_now = work_.taken(); by_now != taken) {
      taken = by_now;
      moved = now;
      used_.store(now, std::memory_order_relaxed);
      bell_.listen_no_more();
      continue;
    }
    listen_unless_used();
    if (now < not_before || !work_.ready()) {
      Native::pause(glance);
      continue;
    }
    if (!work_.any_unsent()) {
      Native::pause(grace);
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
  }
  return any;
}

// Whether the order moved anything.
bool IdleCores::send(Order order) {
  order_.store(order, std::memory_order_release);
  Native::unpark(order_, 1, platform::Scope::process);
  while (order_.load(std::memory_order_acquire) != none) {
    if (direct_) {
      Native::park(order_, order, platform::Scope::process);
    } else {
      sched_yield();
    }
  }
  return moved_;
}

void IdleCores::hand() {
  pthread_setaffinity_np(pthread_self(), sizeof cores_, &cores_);
  for (;;) {
    const std::uint32_t order = order_.load(std::memory_order_acquire);
    if (order == none) {
      Native::park(order_, none, platform::Scope::process);
      continue;
    }
    if (order == end) return;
    moved_ = carry_out(static_cast<Order>(order));
    if (direct_) moved_ |= stay();
    // The scout may lose its core before it gets to it.
    listen_unless_used();
    order_.store(none, std::memory_order_release);
    if (direct_) Native::unpark(order_, 1, platform::Scope::process);
  }
}

bool IdleCores::carry_out(Order order) {
  const std::int64_t begin = Native::now();
  bool moved = false;
  Pass last;
  do {
    last = work_.advance(order == help_thoroughly);
    moved |= last.moved;
  } while (last.moved && Native::now() - begin < spell);
  return moved;
}

// The hand looks around itself, on the core that the scout has found.
bool IdleCores::stay() {
  std::uint32_t looks = 0;
  const bool moved = look_around(
      [&] {
        if (++looks % looks_per_yield != 0) return true;
        const std::int64_t before = Native::now();
        sched_yield();
        return Native::now() - before < yield_alone;
      },
      [this] { return work_.advance(false).moved; });
  seen_.store(long_ago, std::memory_order_relaxed);
  return moved;
}

void IdleCores::listen_unless_used() {
  if (Native::now() - used_.load(std::memory_order_relaxed) > linger) bell_.listen();
}

}  // namespace heddle::progress
