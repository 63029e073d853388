// The common part of a test and the allocator that it preloads (failing_malloc.cpp).
#pragma once

namespace test {

struct Shortage {
  bool for_good = false;  // all that come after it fail too
  bool on = false;        // allocations of this thread count
  long at = 0;            // which of them fails; 0: none
  long seen = 0;          // so far
};

}  // namespace test

#pragma GCC visibility push(default)
extern "C" {
// The calling thread's.
test::Shortage* test_shortage();

void* malloc(decltype(sizeof 0) bytes);
void* calloc(decltype(sizeof 0) n, decltype(sizeof 0) bytes);
void* realloc(void* old, decltype(sizeof 0) bytes);
void* memalign(decltype(sizeof 0) alignment, decltype(sizeof 0) bytes);
void* aligned_alloc(decltype(sizeof 0) alignment, decltype(sizeof 0) bytes);
int posix_memalign(void** out, decltype(sizeof 0) alignment, decltype(sizeof 0) bytes);
}
#pragma GCC visibility pop
