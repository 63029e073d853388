#include "lln/shm/asymmetric_fence.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace heddle::lln::shm {

namespace {
long membarrier(int command) { return syscall(SYS_membarrier, command, 0, 0); }
}  // namespace

void AsymmetricFence::prepare() {
  const long supported = membarrier(MEMBARRIER_CMD_QUERY);
  symmetric_ = supported < 0 || (supported & MEMBARRIER_CMD_GLOBAL_EXPEDITED) == 0 ||
               membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) != 0;
}

void AsymmetricFence::heavy() const {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (!symmetric_) membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
}

}  // namespace heddle::lln::shm
