// Findings of one_definition.py: each of these stands in second.hpp, too.
#pragma once

#include <cstddef>
#include <new>

namespace heddle::twice {

inline constexpr int limit = 1;

class Part final {
  char bytes_[4];
};

enum class Phase { begun, ended };

inline int sum(int a, int b = 1) { return a + b; }

template <class T>
struct alignas(64) Padded {
  T value;
};

// These do not stand there: a name in another namespace, and another overload.
namespace inner {
struct Other {
  int value;
};
}  // namespace inner
inline int sum(long a, long b) { return static_cast<int>(a + b); }

}  // namespace heddle::twice
