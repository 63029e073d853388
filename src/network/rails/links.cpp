#include "network/rails/links.hpp"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <memory>
#include <system_error>
#include <utility>

#include "base/threads/library_thread.hpp"
#include "network/descriptor.hpp"

namespace heddle::lln {

namespace {

constexpr int patience =
    2000;  // milliseconds: TCP resends all that was lost over a link that comes back within this time

// The kernel's events of links that go down or come up.
class Events {
 public:
  Events() : socket_(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE)) {
    sockaddr_nl wanted{};
    wanted.nl_family = AF_NETLINK;
    wanted.nl_groups = RTMGRP_LINK;
    usable_ = bind(socket_.number(), reinterpret_cast<const sockaddr*>(&wanted), sizeof wanted) == 0;
  }
  bool usable() const { return usable_; }

  // Waits for an event, or for so many milliseconds (-1: no limit). The caller looks up the state: events may have been
  // lost.
  void wait(int milliseconds) const {
    pollfd readable{.fd = socket_.number(), .events = POLLIN, .revents = 0};
    if (::poll(&readable, 1, milliseconds) <= 0) return;
    char event[8192];
    while (recv(socket_.number(), event, sizeof event, MSG_DONTWAIT) > 0) {
    }
  }

  bool has_link(const std::string& interface) const {
    ifreq asked{};
    if (interface.size() >= sizeof asked.ifr_name) return false;
    std::memcpy(asked.ifr_name, interface.data(), interface.size());
    if (ioctl(socket_.number(), SIOCGIFFLAGS, &asked) != 0) return false;
    const int flags = asked.ifr_flags;
    return (flags & IFF_UP) != 0 && (flags & IFF_RUNNING) != 0;
  }

 private:
  Descriptor socket_;
  bool usable_ = false;
};

// True if the link is down after that time: it may have been up and down meanwhile.
bool stays_down(const Events& events, const std::string& interface) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(patience);
  for (;;) {
    if (events.has_link(interface)) return false;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return true;
    events.wait(static_cast<int>(left.count()));
  }
}

void say(const std::string& interface, const std::function<void(const char*)>& fail) {
  char text[256];
  std::snprintf(
      text, sizeof text,
      "%.100s, a rail of HEDDLE_RAILS, has had no link for %d s on one of the nodes: its cable was pulled, or "
      "its switch does not answer. Messages over it are lost",
      interface.c_str(), patience / 1000);
  fail(text);
}

}  // namespace

void watch_links(const std::vector<std::string>& devices, std::function<void(const char*)> fail) {
  auto events = std::make_shared<Events>();
  if (!events->usable()) return;
  std::vector<std::string> interfaces;
  std::ranges::copy_if(devices, std::back_inserter(interfaces),
                       [&](const std::string& device) { return !device.empty() && events->has_link(device); });
  if (interfaces.empty()) return;
  const auto watch = [events, interfaces, fail = std::move(fail)] {
    const auto is_down = [&](const std::string& interface) { return !events->has_link(interface); };
    for (;;) {
      const auto down = std::ranges::find_if(interfaces, is_down);
      if (down == interfaces.end()) {
        events->wait(-1);
      } else if (stays_down(*events, *down)) {
        return say(*down, fail);
      }
    }
  };
  try {
    threads::start_library_thread(watch);
  } catch (const std::system_error&) {  // then TCP notices the failure
  }
}

}  // namespace heddle::lln
