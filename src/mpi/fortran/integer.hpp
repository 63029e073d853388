// The default INTEGER and LOGICAL of the Fortran that this library is built for, and C's int. The width is in "kind.hpp", of
// which the build has one for 4 bytes and one for 8 (-fdefault-integer-8).
#pragma once

#include <climits>
#include <cstdint>

#include "kind.hpp"

namespace heddle::fortran {

inline constexpr bool wide_integers = sizeof(Fint) > sizeof(int);

// A number that does not fit becomes the nearest int, never another number: no rank, tag or size is that large, so C
// refuses it.
inline int to_int(Fint value) {
  if constexpr (wide_integers) {
    if (value > INT_MAX) return INT_MAX;
    if (value < INT_MIN) return INT_MIN;
  }
  return static_cast<int>(value);
}

// The same memory under the name that C has for its type.
template <class To, class From>
To* same(From* memory) {
  static_assert(sizeof(To) == sizeof(From));
  return reinterpret_cast<To*>(memory);
}

// The compiler's values of .FALSE. and .TRUE.; any other value than that of .FALSE. is taken as true.
extern const Fint logical_false asm("heddle_fortran_false");  // kinds.f90
extern const Fint logical_true asm("heddle_fortran_true");

}  // namespace heddle::fortran
