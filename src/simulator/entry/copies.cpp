// Copies by libc's functions, which the compiler does not announce.
//
// They are copied by one instruction, so that these functions work before the process is ready for anything else. The
// simulator's own copies do not come here: its linker calls them by other names (CMakeLists.txt).
#include <cstddef>

#include "simulator/simulation.hpp"

namespace heddle::simulator {
namespace {

[[gnu::always_inline]] inline void copy(void* to, const void* from, std::size_t bytes) {
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}
[[gnu::always_inline]] inline void copy_backwards(void* to, const void* from, std::size_t bytes) {
  auto* last_to = static_cast<char*>(to) + bytes - 1;
  const auto* last_from = static_cast<const char*>(from) + bytes - 1;
  asm volatile("std\n\trep movsb\n\tcld" : "+D"(last_to), "+S"(last_from), "+c"(bytes) : : "memory");
}
[[gnu::always_inline]] inline void fill(void* to, int value, std::size_t bytes) {
  asm volatile("rep stosb" : "+D"(to), "+c"(bytes) : "a"(value) : "memory");
}
[[gnu::always_inline]] inline void move(void* to, const void* from, std::size_t bytes) {
  if (to <= from || static_cast<const char*>(from) + bytes <= to)
    copy(to, from, bytes);
  else
    copy_backwards(to, from, bytes);
}

}  // namespace
}  // namespace heddle::simulator

using heddle::simulator::Access;
using heddle::simulator::touch_range;

extern "C" {

void* memcpy(void* to, const void* from, std::size_t bytes) {
  const auto caller = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  touch_range(from, bytes, Access::read, caller);
  touch_range(to, bytes, Access::write, caller);
  heddle::simulator::move(to, from, bytes);
  return to;
}
void* memmove(void* to, const void* from, std::size_t bytes) {
  const auto caller = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  touch_range(from, bytes, Access::read, caller);
  touch_range(to, bytes, Access::write, caller);
  heddle::simulator::move(to, from, bytes);
  return to;
}
void* memset(void* to, int value, std::size_t bytes) {
  touch_range(to, bytes, Access::write, reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)));
  heddle::simulator::fill(to, value, bytes);
  return to;
}

[[gnu::visibility("hidden")]] void* __wrap_memcpy(void* to, const void* from, std::size_t bytes) {
  heddle::simulator::move(to, from, bytes);
  return to;
}
[[gnu::visibility("hidden")]] void* __wrap_memmove(void* to, const void* from, std::size_t bytes) {
  heddle::simulator::move(to, from, bytes);
  return to;
}
[[gnu::visibility("hidden")]] void* __wrap_memset(void* to, int value, std::size_t bytes) {
  heddle::simulator::fill(to, value, bytes);
  return to;
}
}
