// The way to the real system, past the functions that the simulator defines itself.
#pragma once

#include <cerrno>
#include <string>

#include "base/platform/next_function.hpp"

namespace heddle::simulator {

// The function that the process would have called without the simulator: libc's, usually.
template <class F>
using Real = platform::Next<F>;

// A system call of six words; returns what the kernel does, a negative number for an error.
inline long system_call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  long result;
  asm volatile("syscall"
               : "=a"(result)
               : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

// As a function of libc returns it.
inline long with_errno(long result) {
  if (result >= 0) return result;
  errno = static_cast<int>(-result);
  return -1;
}

// Ends the process at once with "simulator: TEXT" and exit code 70.
[[noreturn]] void stop(const std::string& text);

}  // namespace heddle::simulator
