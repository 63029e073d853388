#include "lln/shm/doorbell.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

namespace heddle::lln::shm {

namespace {

void futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) {
  syscall(SYS_futex, &word, operation, value, nullptr, nullptr, 0);
}

}  // namespace

bool Doorbell::ring() {
  // A thread that begins to sleep counts itself, then looks at `rings`: either it is seen here, or it sees this.
  rings.fetch_add(1, std::memory_order_seq_cst);
  if (asleep.load(std::memory_order_seq_cst) != helper_listens) {
    futex(rings, FUTEX_WAKE, INT_MAX);
    return false;
  }
  return call_listener();
}

void Doorbell::sleep(std::uint32_t seen) { futex(rings, FUTEX_WAIT, seen); }

void Doorbell::listen() {
  if ((asleep.load(std::memory_order_relaxed) & helper_listens) == 0)
    asleep.fetch_or(helper_listens, std::memory_order_relaxed);
}

void Doorbell::listen_no_more() {
  if ((asleep.load(std::memory_order_relaxed) & helper_listens) != 0)
    asleep.fetch_and(~helper_listens, std::memory_order_relaxed);
}

void Doorbell::await_call(std::uint32_t seen) { futex(calls, FUTEX_WAIT, seen); }

void Doorbell::call() {
  calls.fetch_add(1, std::memory_order_release);
  futex(calls, FUTEX_WAKE, 1);
}

bool Doorbell::call_listener() {
  if ((asleep.load(std::memory_order_relaxed) & helper_listens) == 0) return false;
  if ((asleep.fetch_and(~helper_listens, std::memory_order_acq_rel) & helper_listens) == 0) return false;
  call();
  return true;
}

}  // namespace heddle::lln::shm
