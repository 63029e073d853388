// Errand: what one thread sends another to do, one at a time, and is told what came of it.
//
// Source: ours. One word says which errand is on its way; who has nothing to do sleeps on it, and so does, if it likes, who has sent
// the other. So a switch between the two costs one system call.
//
// No wake-up is lost: each side sleeps only while the word says what it has just read there, and whoever changes it wakes.
// Progress: a store and a wake-up.
//
// Memory orders: sending releases what the other shall see, and its end what it has done; each side acquires that.
#pragma once

#include <cstdint>

#include "base/platform/platform.hpp"

namespace heddle::sync {

template <platform::Platform P>
class Errand {
  using order = platform::order;

 public:
  static constexpr std::uint32_t none = 0;

  // ---- One thread at a time, the sender.

  // Not `none`. Until it is done the other thread is at it, and there is no other.
  void send(std::uint32_t what) {
    word_.store(what, order::release);
    P::unpark(word_, 1, platform::Scope::process);
  }
  // Asleep until it is done; result() is then what came of it.
  void sleep_until_done(std::uint32_t what) {
    while (!done()) P::park(word_, what, platform::Scope::process);
  }
  bool done() const { return word_.load(order::acquire) == none; }
  bool result() const { return result_.get(); }

  // ---- The other thread. Sleeps until there is one.
  std::uint32_t await() {
    for (;;) {
      const std::uint32_t what = word_.load(order::acquire);
      if (what != none) return what;
      P::park(word_, none, platform::Scope::process);
    }
  }
  void end(bool result, bool sender_sleeps) {
    result_.set(result);
    word_.store(none, order::release);
    if (sender_sleeps) P::unpark(word_, 1, platform::Scope::process);
  }

 private:
  typename P::template atomic<std::uint32_t> word_{none};
  typename P::template plain<bool> result_{false};
};

}  // namespace heddle::sync
