// The allocator of a process whose memory runs out when a test says so: preloaded, it answers for libc's in the program and in every
// library, and what fails is the n-th allocation from now on of the thread that has asked for it, or
// all from that one on.
#include <cerrno>
#include <cstddef>

#include "messaging/p2p/failing_malloc.hpp"

extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t n, std::size_t bytes);
void* __libc_realloc(void* old, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
}

namespace {

// In every thread's block from the start: what is made on first use would allocate.
[[gnu::tls_model("initial-exec")]] constinit thread_local test::Shortage shortage;

bool fails() {
  if (!shortage.on) return false;
  ++shortage.seen;
  if (shortage.at == 0 || shortage.seen < shortage.at) return false;
  if (shortage.seen > shortage.at && !shortage.for_good) return false;
  errno = ENOMEM;
  return true;
}

}  // namespace

test::Shortage* test_shortage() { return &shortage; }

void* malloc(std::size_t bytes) { return fails() ? nullptr : __libc_malloc(bytes); }
void* calloc(std::size_t n, std::size_t bytes) { return fails() ? nullptr : __libc_calloc(n, bytes); }
void* realloc(void* old, std::size_t bytes) { return fails() ? nullptr : __libc_realloc(old, bytes); }
void* memalign(std::size_t alignment, std::size_t bytes) {
  return fails() ? nullptr : __libc_memalign(alignment, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) { return memalign(alignment, bytes); }
int posix_memalign(void** out, std::size_t alignment, std::size_t bytes) {
  void* const got = memalign(alignment, bytes);
  if (got == nullptr) return ENOMEM;
  *out = got;
  return 0;
}
