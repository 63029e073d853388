// The signature of data (MPI 5.0, section 3.3.1) in 64 bits: the sequence of basic elements e1 e2 .. en as the
// polynomial h(e1) p^(n-1) + .. + h(en) modulo 2^64. Sequences can be joined and repeated without being written out.
// Two sequences that differ have the same value with a probability of about 2^-64; types of the same element
// (MPI_INT and MPI_INT32_T) are taken for equal.
#pragma once

#include <cstdint>

#include "objects/datatype/datatype.hpp"

namespace heddle {

struct Signature {
  std::uint64_t value = 0;
  std::uint64_t power = 1;  // p^n

  friend constexpr Signature operator+(Signature a, Signature b) {  // a, then b
    return {a.value * b.power + b.value, a.power * b.power};
  }
  friend constexpr Signature operator*(Signature a, std::uint64_t times) {  // a, `times` times
    Signature result;
    for (; times != 0; times >>= 1, a = a + a) {
      if (times & 1) result = result + a;
    }
    return result;
  }
  friend constexpr bool operator==(Signature, Signature) = default;
};

constexpr Signature signature_of(Element e) {
  constexpr std::uint64_t p = 0x9e3779b97f4a7c15;  // odd, so that no power of it vanishes
  std::uint64_t h = (static_cast<std::uint64_t>(e) + 1) * 0xbf58476d1ce4e5b9;
  h ^= h >> 31;
  h *= 0x94d049bb133111eb;
  return {h ^ (h >> 29), p};
}

inline Signature signature_of(const Datatype& type) { return {type.signature, type.signature_power}; }
inline Signature signature_of(const Datatype& type, MPI_Count count) {
  return signature_of(type) * static_cast<std::uint64_t>(count);
}

}  // namespace heddle
