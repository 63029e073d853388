// Elects one of the threads that spin for arrivals at a VNI to poll it for all, where each poll costs a system call.
//
// The result is a hint: it decides which thread polls, not which thread blocks. A thread that does not poll spins on its requests, and
// polls as soon as no other thread does.
#pragma once

#include <atomic>

#include "base/platform/native.hpp"

namespace heddle::engine {

class Lookout {
 public:
  // A thread that can be elected, until its wait ends or it blocks.
  class Candidate {
   public:
    Candidate() = default;
    ~Candidate() { step_down(); }
    Candidate(const Candidate&) = delete;
    Candidate& operator=(const Candidate&) = delete;

    // True: the caller polls this VNI. It gives up the VNI that it polled before, so that another thread can poll that one.
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
