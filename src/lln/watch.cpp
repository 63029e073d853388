#include "lln/watch.hpp"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>
#include <string>

#include "threads/helper.hpp"

namespace heddle::lln {

namespace {

constexpr std::int64_t soon = 50'000;  // nanoseconds; longer than a burst of sends takes to its next wait

bool set(int timer, std::int64_t after) {
  const itimerspec when{.it_interval = {}, .it_value = {after / 1'000'000'000, after % 1'000'000'000}};
  return timerfd_settime(timer, 0, &when, nullptr) == 0;
}

// Watches a descriptor until it can be read once.
bool watch_once(int events, int fd) {
  epoll_event wanted{.events = EPOLLIN | EPOLLONESHOT, .data = {.fd = fd}};
  return epoll_ctl(events, EPOLL_CTL_MOD, fd, &wanted) == 0 ||
         (errno == ENOENT && epoll_ctl(events, EPOLL_CTL_ADD, fd, &wanted) == 0) || errno == EEXIST;
}

}  // namespace

Watch::Watch(node::Doorbell& bell)
    : bell_(bell),
      events_(epoll_create1(EPOLL_CLOEXEC)),
      timer_(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)),
      reminding_(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {
  epoll_event wanted{.events = EPOLLIN | EPOLLET, .data = {.fd = reminding_}};
  if (events_ < 0 || timer_ < 0 || reminding_ < 0 || epoll_ctl(events_, EPOLL_CTL_ADD, reminding_, &wanted) != 0)
    throw std::runtime_error("no descriptor for what wakes sleeping threads: " + std::string(std::strerror(errno)));
  threads::start_helper([this] { serve(); });
}

void Watch::arm(int fd, std::int64_t after) {
  // Who cannot be woken does not sleep: its doorbell has rung.
  if (!watch_once(events_, fd)) bell_.rouse();
  if (after == 0) return;
  if (!set(timer_, after) || !watch_once(events_, timer_)) bell_.rouse();
}

// A timer that cannot be set is one that the next send or wait of the program stands in for.
void Watch::remind() {
  if (reminder_.ask()) (void)set(reminding_, soon);
}

void Watch::remind_again() {
  reminder_.begin();
  Sender* const sender = sender_.load(std::memory_order_acquire);
  if (sender != nullptr && sender->send_left()) remind();
}

void Watch::serve() {
  for (;;) {
    epoll_event happened[8];
    bool rings = false;
    for (int i = epoll_wait(events_, happened, 8, -1); i > 0; --i) {
      if (happened[i - 1].data.fd == reminding_) {
        remind_again();
      } else {
        rings = true;
      }
    }
    if (rings) bell_.rouse();
  }
}

}  // namespace heddle::lln
