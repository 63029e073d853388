// Truncated exponential backoff: the delay between attempts on a contended word.
//
// Source: Anderson, IEEE TPDS 1(1), 1990; as used for progress calls by Amer 2019, section 3.5. Progress: bounded; once
// the limit is reached it yields too, so that a lock holder without a core gets one. When: between attempts that failed
// because another thread succeeded. Keep one object for a whole sequence of attempts.
#pragma once

#include <cstdint>

#include "base/platform/platform.hpp"

namespace heddle::sync {

template <platform::Platform P>
class Backoff {
 public:
  explicit Backoff(std::uint32_t first = 4, std::uint32_t limit = 256) : pauses_(first), limit_(limit) {}

  void operator()() {
    P::pause(pauses_);
    if (pauses_ < limit_) {
      pauses_ *= 2;
    } else {
      P::yield();
    }
  }

 private:
  std::uint32_t pauses_;
  const std::uint32_t limit_;
};

}  // namespace heddle::sync
