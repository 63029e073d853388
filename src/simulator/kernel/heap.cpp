// Memory that a thread gives back: stores that its core still delays must not reach the next owner of it. On a real machine
// the lock of the heap, or the store by which the memory is handed on, comes after them.
#include <cstddef>

#include "simulator/simulation.hpp"

extern "C" {

void __libc_free(void* memory) noexcept;
void* __libc_realloc(void* memory, std::size_t bytes) noexcept;

void free(void* memory) noexcept {
  if (heddle::simulator::self != nullptr) heddle::simulator::self->stores.leave_all();
  __libc_free(memory);
}
void* realloc(void* memory, std::size_t bytes) noexcept {
  if (heddle::simulator::self != nullptr) heddle::simulator::self->stores.leave_all();
  return __libc_realloc(memory, bytes);
}

// The simulator's own.
[[gnu::visibility("hidden")]] void __wrap_free(void* memory) noexcept { __libc_free(memory); }
[[gnu::visibility("hidden")]] void* __wrap_realloc(void* memory, std::size_t bytes) noexcept {
  return __libc_realloc(memory, bytes);
}
}
