// The one loop over elements.
#pragma once

#include <cstddef>
#include <cstring>

namespace heddle::op {

template <class T>
inline T load(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <class T, class F>
inline void for_each(const void* in, void* inout, std::size_t n, F f) {
  const char* __restrict from = static_cast<const char*>(in);
  char* __restrict to = static_cast<char*>(inout);
  for (std::size_t i = 0; i < n; ++i) {
    const T result = f(load<T>(from + i * sizeof(T)), load<T>(to + i * sizeof(T)));
    std::memcpy(to + i * sizeof(T), &result, sizeof result);
  }
}

}  // namespace heddle::op
