// A store-load fence whose whole price is paid by the side that can afford it.
//
// Going to sleep and waking up is Dekker's problem: a sender writes a message and then reads "does anyone sleep?", a
// sleeper writes "I sleep" and then reads "is there a message?", and at least one must see the other. The sender does
// this for every message, the sleeper only when it has nothing to do, so the sleeper runs membarrier(2), which makes
// every core that runs one of the registered processes pass a full barrier, and the sender needs only keep the
// compiler from reordering. Where the kernel or a container refuses membarrier, the light side fences too.
#pragma once

#include <atomic>

namespace heddle::lln::shm {

class AsymmetricFence {
 public:
  // Before the first message of this process. All processes of a machine get the same answer from the kernel.
  void prepare();

  void light() const {
    if (symmetric_) [[unlikely]] {
      std::atomic_thread_fence(std::memory_order_seq_cst);
    } else {
      std::atomic_signal_fence(std::memory_order_seq_cst);
    }
  }
  void heavy() const;

 private:
  bool symmetric_ = true;
};

}  // namespace heddle::lln::shm
