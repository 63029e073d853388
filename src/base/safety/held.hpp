// Owns a lock that has been taken with a node, and releases it in any case: code with a VNI's lock held may throw.
#pragma once

#include "base/sync/lock.hpp"

namespace heddle::safety {

template <sync::Lock Lock>
class Held {
 public:
  Held(Lock& lock, typename Lock::node& node) : lock_(lock), node_(node) {}
  [[gnu::always_inline]] ~Held() { lock_.unlock(node_); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  Lock& lock_;
  typename Lock::node& node_;
};

}  // namespace heddle::safety
