#include "messaging/message/simulator/memory.hpp"

#include <cstdlib>
#include <new>

namespace heddle::message::simulator {

namespace {

constinit thread_local int before_failure = -1;
constinit thread_local bool failed = false;

bool fails() {
  if (before_failure < 0 || before_failure-- != 0) return false;
  failed = true;
  return true;
}

}  // namespace

void fail_allocation(int n) {
  before_failure = n;
  failed = false;
}
bool allocation_has_failed() { return failed; }

Spared::Spared() : before_(before_failure) { before_failure = -1; }
Spared::~Spared() { before_failure = before_; }

}  // namespace heddle::message::simulator

void* operator new(std::size_t bytes) {
  void* const at = heddle::message::simulator::fails() ? nullptr : std::malloc(bytes != 0 ? bytes : 1);
  if (at == nullptr) throw std::bad_alloc();
  return at;
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  void* at = nullptr;
  if (heddle::message::simulator::fails() || posix_memalign(&at, static_cast<std::size_t>(alignment), bytes) != 0)
    throw std::bad_alloc();
  return at;
}
void operator delete(void* at) noexcept { std::free(at); }
void operator delete(void* at, std::size_t) noexcept { std::free(at); }
void operator delete(void* at, std::align_val_t) noexcept { std::free(at); }
void operator delete(void* at, std::size_t, std::align_val_t) noexcept { std::free(at); }
