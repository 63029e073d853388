// Findings of one_definition.py: each of these stands in first.hpp, too.
#pragma once

#include <cstddef>

namespace heddle::twice {

inline constexpr long limit{2};

class Part {
  char bytes_[8];
};

enum class Phase : unsigned char { before, after };

inline int sum(int x, int y) { return x - y; }

template <class T>
struct Padded {
  T value;
};

struct Other {
  int value;
};

}  // namespace heddle::twice
