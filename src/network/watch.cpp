#include "network/watch.hpp"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cstring>
#include <mutex>
#include <stdexcept>
#include <string>
#include <system_error>

#include "base/threads/library_thread.hpp"

namespace heddle::lln {

namespace {

int make_timer() { return timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK); }

bool set(int timer, std::int64_t after) {
  const itimerspec when{.it_interval = {}, .it_value = {after / 1'000'000'000, after % 1'000'000'000}};
  return timerfd_settime(timer, 0, &when, nullptr) == 0;
}

// Watches a descriptor until it is readable once.
bool watch_once(int events, int fd) {
  epoll_event wanted{.events = EPOLLIN | EPOLLONESHOT, .data = {.fd = fd}};
  return epoll_ctl(events, EPOLL_CTL_MOD, fd, &wanted) == 0 ||
         (errno == ENOENT && epoll_ctl(events, EPOLL_CTL_ADD, fd, &wanted) == 0) || errno == EEXIST;
}

}  // namespace

Watch::Watch(node::Doorbell& bell)
    : bell_(bell),
      events_(epoll_create1(EPOLL_CLOEXEC)),
      timer_(make_timer()),
      sending_{.timer = make_timer()},
      polling_{.timer = make_timer()} {
  const auto watch = [&](int timer) {
    epoll_event wanted{.events = EPOLLIN | EPOLLET, .data = {.fd = timer}};
    return timer >= 0 && epoll_ctl(events_, EPOLL_CTL_ADD, timer, &wanted) == 0;
  };
  if (events_ < 0 || !watch(timer_) || !watch(sending_.timer) || !watch(polling_.timer))
    throw std::runtime_error("no descriptor for the thread that wakes blocked threads: " +
                             std::string(std::strerror(errno)));
  try {
    threads::start_library_thread([this] { serve(); });
  } catch (const std::system_error& e) {
    throw std::runtime_error("cannot start the thread that wakes blocked threads for a network (" +
                             std::string(e.what()) + ") (a limit, ulimit -u?)");
  }
}

void Watch::arm(int fd, std::int64_t after) {
  // A thread that cannot be woken does not block: its doorbell has rung.
  if (!watch_once(events_, fd)) bell_.wake_blocked();
  if (after != 0) arm_timer(after);
}

// An earlier time that is set stays: until the watch thread has cleared it, it rings for the caller, too, which then
// asks again.
void Watch::arm_timer(std::int64_t after) {
  const std::int64_t due = platform::Native::now() + after;
  const std::lock_guard guard(mutex_);
  if (due_ != 0 && due_ <= due) return;
  due_ = due;
  if (set(timer_, after)) return;
  due_ = 0;
  bell_.wake_blocked();
}

// The timer has expired, and the bell rings after this.
void Watch::forget_timer() {
  const std::lock_guard guard(mutex_);
  due_ = 0;
}

// If the timer cannot be set, the next call of the program takes its place.
void Watch::schedule(DeferredWork& of, std::int64_t after) {
  if (of.deferred_timer.ask()) (void)set(of.timer, after);
}

void Watch::send_left() {
  sending_.deferred_timer.begin();
  Attendant* const attendant = attendant_.load(std::memory_order_acquire);
  if (attendant == nullptr) return;
  const std::int64_t again = recall_.checked(attendant->send_left(recall_.sends_anyway()));
  if (again != 0) schedule(sending_, again);
}

void Watch::poll_around() {
  polling_.deferred_timer.begin();
  Attendant* const attendant = attendant_.load(std::memory_order_acquire);
  if (attendant != nullptr && attendant->poll_around()) schedule(polling_, later);
}

void Watch::serve() {
  for (;;) {
    epoll_event happened[8];
    bool rings = false;
    for (int i = epoll_wait(events_, happened, 8, -1); i > 0; --i) {
      const int fd = happened[i - 1].data.fd;
      if (fd == sending_.timer) {
        send_left();
      } else if (fd == polling_.timer) {
        poll_around();
      } else {
        if (fd == timer_) forget_timer();
        rings = true;
      }
    }
    if (rings) bell_.wake_blocked();
  }
}

}  // namespace heddle::lln
