// One of the threads that wait spinning for what comes to a VNI looks there for all, where each look costs a system call.
//
// A hint, which decides who looks and not who sleeps: one that does not look is spinning, and looks itself as soon as nobody else does.
#pragma once

#include <atomic>

#include "base/platform/native.hpp"

namespace heddle::engine {

class Lookout {
 public:
  // A thread that may be the one, until it waits no more or goes to sleep.
  class Candidate {
   public:
    Candidate() = default;
    ~Candidate() { step_down(); }
    Candidate(const Candidate&) = delete;
    Candidate& operator=(const Candidate&) = delete;

    // Whether the caller looks there. It no longer does where it looked before, or others would wait for that.
    bool looks_at(Lookout& lookout) {
      if (mine_ == &lookout) return true;
      step_down();
      if (lookout.taken_.load(std::memory_order_relaxed) || lookout.taken_.exchange(true, std::memory_order_relaxed))
        return false;
      mine_ = &lookout;
      return true;
    }
    void step_down() {
      if (mine_ != nullptr) mine_->taken_.store(false, std::memory_order_relaxed);
      mine_ = nullptr;
    }

   private:
    Lookout* mine_ = nullptr;
  };

 private:
  alignas(platform::cache_line) platform::Native::atomic<bool> taken_{false};
};

}  // namespace heddle::engine
