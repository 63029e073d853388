#include "messaging/message/simulator/memory.hpp"

#include <cstdlib>
#include <new>

namespace heddle::message::simulator {

namespace {

constinit thread_local int before_failure = -1;
constinit thread_local bool failed = false;
constinit thread_local long made = 0;

bool fails() {
  if (before_failure < 0 || before_failure-- != 0) return false;
  failed = true;
  return true;
}

void* count(void* at) {
  if (at == nullptr) throw std::bad_alloc();
  ++made;
  return at;
}

void* allocate(std::size_t bytes) { return count(fails() ? nullptr : std::malloc(bytes != 0 ? bytes : 1)); }
void* allocate(std::size_t bytes, std::size_t alignment) {
  void* at = nullptr;
  return count(fails() || posix_memalign(&at, alignment, bytes) != 0 ? nullptr : at);
}
void release(void* at) {
  if (at != nullptr) --made;
  std::free(at);
}

}  // namespace

long allocations() { return made; }

void fail_allocation(int n) {
  before_failure = n;
  failed = false;
}
bool allocation_has_failed() { return failed; }

Spared::Spared() : before_(before_failure) { before_failure = -1; }
Spared::~Spared() { before_failure = before_; }

}  // namespace heddle::message::simulator

void* operator new(std::size_t bytes) { return heddle::message::simulator::allocate(bytes); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return heddle::message::simulator::allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* at) noexcept { heddle::message::simulator::release(at); }
void operator delete(void* at, std::size_t) noexcept { heddle::message::simulator::release(at); }
void operator delete(void* at, std::align_val_t) noexcept { heddle::message::simulator::release(at); }
void operator delete(void* at, std::size_t, std::align_val_t) noexcept { heddle::message::simulator::release(at); }
