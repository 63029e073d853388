#include "lln/shm/doorbell.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

namespace heddle::lln::shm {

void Doorbell::ring() {
  rings.fetch_add(1, std::memory_order_release);
  syscall(SYS_futex, &rings, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void Doorbell::sleep(std::uint32_t seen) { syscall(SYS_futex, &rings, FUTEX_WAIT, seen, nullptr, nullptr, 0); }

}  // namespace heddle::lln::shm
