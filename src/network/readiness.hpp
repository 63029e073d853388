// Signals to blocked and to spinning threads that a network has work. For a network whose library has a descriptor of
// its own, which signals only after the library has been armed, and does not cover the events that the library already
// holds.
//
// All calls except arrived() need the VNI's lock.
#pragma once

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <atomic>
#include <cstdint>
#include <stdexcept>

#include "network/descriptor.hpp"

namespace heddle::lln {

class Readiness {
 public:
  // Throws std::runtime_error: no descriptors are left.
  Readiness() : events_(epoll_create1(EPOLL_CLOEXEC)), left_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (events_.number() < 0 || left_.number() < 0) give_up();
    watch(left_.number());
  }

  // The library's descriptor. Throws as above.
  void watch(int fd) {
    epoll_event wanted{.events = EPOLLIN, .data = {.fd = fd}};
    if (epoll_ctl(events_.number(), EPOLL_CTL_ADD, fd, &wanted) != 0) give_up();
  }
  // The descriptor of Network::wake_fd().
  int fd() const { return events_.number(); }

  // True if the library signals all events from now on at its descriptor.
  void set_armed(bool armed) { armed_.store(armed, std::memory_order_relaxed); }
  bool is_armed() const { return armed_.load(std::memory_order_relaxed); }

  // True if deferred work is left that no event will signal: it keeps threads spinning, or wakes them.
  void set_left(bool any) {
    if (any == any_left()) return;
    any_left_.store(any, std::memory_order_relaxed);
    std::uint64_t count = 1;
    if (any) {
      (void)!write(left_.number(), &count, sizeof count);
    } else {
      (void)!read(left_.number(), &count, sizeof count);
    }
  }
  bool any_left() const { return any_left_.load(std::memory_order_relaxed); }

  // Any thread, as Network::arrived(): a library that is not armed may hold something, and only a poll finds out.
  bool arrived() const {
    if (any_left() || !is_armed()) return true;
    pollfd readable{.fd = events_.number(), .events = POLLIN, .revents = 0};
    return ::poll(&readable, 1, 0) > 0;
  }

 private:
  [[noreturn]] static void give_up() { throw std::runtime_error("no descriptors are left for it"); }

  Descriptor events_;  // an epoll instance
  Descriptor left_;    // an eventfd that can be read while `any_left_`
  std::atomic<bool> any_left_{false};
  std::atomic<bool> armed_{false};
};

}  // namespace heddle::lln
