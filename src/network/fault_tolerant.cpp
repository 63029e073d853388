#include "network/fault_tolerant.hpp"

#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <stdexcept>
#include <utility>

namespace heddle::lln {

namespace {

constexpr std::int64_t second = 1'000'000'000;

std::int64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * second + time.tv_nsec;
}

}  // namespace

FaultTolerant::FaultTolerant(FunctionRef<Networks::End(Lost)> open, std::function<void(const char*)> fail,
                             std::function<bool(int)> is_gone, std::int64_t patience)
    : fail_(std::move(fail)),
      is_gone_(std::move(is_gone)),
      patience_(patience),
      timer_(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)),
      network_(open(lost_)) {
  epoll_event wanted{.events = EPOLLIN, .data = {.fd = timer_.number()}};
  if (timer_.number() < 0 || epoll_ctl(network_->wake_fd(), EPOLL_CTL_ADD, timer_.number(), &wanted) != 0)
    throw std::runtime_error("no descriptor for the timer of lost peers: " + std::string(std::strerror(errno)));
}

// The network calls this in the middle of its calls, and for each lost message.
void FaultTolerant::lose(int peer, const char* text) try {
  if (std::ranges::any_of(missing_, [&](const Missing& one) { return one.peer == peer; })) return;
  missing_.push_back({peer, now() + patience_, text});
  if (missing_.size() == 1) set_timer();
} catch (const std::bad_alloc&) {
  fail_(text);
}

void FaultTolerant::give_up(int peer) {
  network_->give_up(peer);
  if (std::erase_if(missing_, [&](const Missing& one) { return one.peer == peer; }) != 0) set_timer();
}

int FaultTolerant::poll(int most, Sink sink) {
  if (is_over()) [[unlikely]]
    end_overdue();
  return network_->poll(most, sink);
}

bool FaultTolerant::is_over() const {
  const std::int64_t over = over_.load(std::memory_order_relaxed);
  return over != 0 && now() >= over;
}

// A process that was stopped may have been told of a failure and not have polled since; it gives the peer up at its
// next poll. A message from an unknown sender counts as from a peer that has failed, if one has; else its sender's
// network reports it lost, too.
void FaultTolerant::end_overdue() {
  const Missing first = std::move(missing_.front());
  missing_.erase(missing_.begin());
  set_timer();
  if (!is_gone_(first.peer)) fail_(first.text.c_str());
}

// Cannot fail with these arguments.
void FaultTolerant::set_timer() {
  const std::int64_t over = missing_.empty() ? 0 : missing_.front().until;
  over_.store(over, std::memory_order_relaxed);
  const itimerspec when{.it_interval = {}, .it_value = {over / second, over % second}};
  (void)timerfd_settime(timer_.number(), TFD_TIMER_ABSTIME, &when, nullptr);
}

}  // namespace heddle::lln
