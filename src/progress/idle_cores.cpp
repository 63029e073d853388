#include "progress/idle_cores.hpp"

#include <pthread.h>

#include <algorithm>
#include <system_error>

#include "threads/helper.hpp"

namespace heddle::progress {

namespace {

// Nanoseconds.
constexpr std::int64_t linger = 200'000;       // the scout stays awake: several times what calling it costs
constexpr std::int64_t spell = 100'000;        // of the hand; a thread that wants its core waits no longer than that
constexpr std::int64_t shortest_rest = 2'000;  // from an order that moved nothing to the next, doubled each time
constexpr std::int64_t longest_rest = 50'000;

constexpr std::uint32_t glance = 4;  // pauses between two looks
constexpr std::uint32_t grace = 20;  // pauses in which the program may take itself what the scout has seen

}  // namespace

IdleCores::IdleCores(Attended& work, lln::shm::Doorbell& bell, const cpu_set_t& cores)
    : work_(work), bell_(bell), cores_(cores) {
  try {
    hand_ = threads::make_helper([this] { hand(); });
    scout_ = threads::make_helper([this] { scout(); });
    const sched_param none{};
    const int refused = pthread_setschedparam(scout_.native_handle(), SCHED_IDLE, &none);
    if (refused != 0) throw std::system_error(refused, std::generic_category(), "SCHED_IDLE");
  } catch (const std::system_error&) {
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

void IdleCores::scout() {
  pthread_setaffinity_np(pthread_self(), sizeof cores_, &cores_);
  while (!ending_.load(std::memory_order_acquire)) {
    const std::uint32_t calls = bell_.calls.load(std::memory_order_acquire);
    bell_.listen();
    Native::heavy_fence();
    const bool moved = work_.ready() && send(help_thoroughly);
    if (!moved && !ending_.load(std::memory_order_acquire)) {
      bell_.await_call(calls);
      send(help);  // whoever called had a reason
    }
    look_around();
  }
  bell_.listen_no_more();
}

// Until nothing has moved for a while.
void IdleCores::look_around() {
  std::int64_t now = Native::now();
  std::int64_t moved = now;
  std::int64_t not_before = 0;
  std::int64_t rest = shortest_rest;
  std::uint32_t taken = work_.taken();
  for (; now - moved < linger && !ending_.load(std::memory_order_relaxed); now = Native::now()) {
    // Without this a thread that waits and yields on this core would lose it until the next tick of the clock.
    sched_yield();
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
    Native::pause(grace);
    if (work_.taken() != taken) continue;
    if (send(help)) {
      moved = Native::now();
      rest = shortest_rest;
    } else {
      not_before = now + rest;
      rest = std::min(2 * rest, longest_rest);
    }
    taken = work_.taken();
  }
}

// Whether the order moved anything.
bool IdleCores::send(Order order) {
  order_.store(order, std::memory_order_release);
  Native::unpark(order_, 1, platform::Scope::process);
  while (order_.load(std::memory_order_acquire) != none) sched_yield();
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
    const std::int64_t begin = Native::now();
    Pass last;
    moved_ = false;
    do {
      last = work_.advance(order == help_thoroughly);
      moved_ |= last.moved;
    } while (last.moved && Native::now() - begin < spell);
    // The scout may lose its core before it gets to it.
    listen_unless_used();
    order_.store(none, std::memory_order_release);
  }
}

void IdleCores::listen_unless_used() {
  if (Native::now() - used_.load(std::memory_order_relaxed) > linger) bell_.listen();
}

}  // namespace heddle::progress
