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
      timer_(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {
  if (events_ < 0 || timer_ < 0)
    throw std::runtime_error("no descriptor for what wakes sleeping threads: " + std::string(std::strerror(errno)));
  threads::start_helper([this] { serve(); });
}

void Watch::arm(int fd, std::int64_t after) {
  // Who cannot be woken does not sleep: its doorbell has rung.
  if (!watch_once(events_, fd)) bell_.rouse();
  if (after == 0) return;
  const itimerspec when{.it_interval = {}, .it_value = {after / 1'000'000'000, after % 1'000'000'000}};
  if (timerfd_settime(timer_, 0, &when, nullptr) != 0 || !watch_once(events_, timer_)) bell_.rouse();
}

void Watch::serve() {
  for (;;) {
    epoll_event happened[8];
    if (epoll_wait(events_, happened, 8, -1) > 0) bell_.rouse();
  }
}

}  // namespace heddle::lln
