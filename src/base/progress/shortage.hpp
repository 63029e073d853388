// The time for which a step that finds no memory is tried again, since others wait for it.
#pragma once

#include <cstdint>

#include "base/platform/native.hpp"

namespace heddle::progress {

class Shortage {
 public:
  static constexpr std::int64_t patience = 10'000'000'000;  // ns
  static constexpr int seconds = 10;

  // An attempt has found no memory; true to try again. After too long a time, further steps without memory are tried
  // once.
  bool bear() {
    if (over_) return false;
    const std::int64_t now = platform::Native::now();
    if (since_ == 0) since_ = now;
    over_ = now - since_ >= patience;
    return !over_;
  }
  // An attempt has found some.
  void end() { since_ = 0; }
  bool was_too_long() const { return over_; }

 private:
  std::int64_t since_ = 0;  // 0: there is none
  bool over_ = false;
};

}  // namespace heddle::progress
