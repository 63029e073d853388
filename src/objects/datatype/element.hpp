// The basic elements of messages, by the properties that a reduction or a change of representation needs: the kind of
// number and its width. Many predefined datatypes of the standard share one element (MPI_INT, MPI_INT32_T and
// MPI_INTEGER4 are all i32).
#pragma once

#include <cstddef>
#include <cstdint>

namespace heddle {

// clang-format off
enum class Element : std::uint8_t {
  none,   // no element at all: an empty datatype
  mixed,  // elements of several kinds
  // Integers.
  i8, i16, i32, i64, i128, u8, u16, u32, u64,
  // Floating point: IEEE half, single and double, the C long double, IEEE quadruple.
  f16, f32, f64, fx, f128,
  // Complex numbers of two of these.
  c16, c32, c64, cx, c128,
  // Logical: the C and C++ bool; Fortran's, by width.
  c_bool, l8, l16, l32, l64, l128,
  // Not for arithmetic.
  byte, packed, character, wide_character
};
// clang-format on
inline constexpr int element_count = static_cast<int>(Element::wide_character) + 1;

// clang-format off
enum class ElementClass : std::uint8_t {
  none, integer, real, complex, c_logical, fortran_logical, byte, other
};
// clang-format on

constexpr ElementClass class_of(Element e) {
  if (e <= Element::mixed) return ElementClass::none;
  if (e <= Element::u64) return ElementClass::integer;
  if (e <= Element::f128) return ElementClass::real;
  if (e <= Element::c128) return ElementClass::complex;
  if (e == Element::c_bool) return ElementClass::c_logical;
  if (e <= Element::l128) return ElementClass::fortran_logical;
  if (e == Element::byte) return ElementClass::byte;
  return ElementClass::other;
}

// Bytes in memory; 0 for none and mixed.
constexpr std::size_t size_of(Element e) {
  constexpr std::uint8_t sizes[element_count] = {0, 0,                           // none, mixed
                                                 1, 2, 4,  8,  16, 1,  2, 4, 8,  // integers
                                                 2, 4, 8,  16, 16,               // floating point
                                                 4, 8, 16, 32, 32,               // complex
                                                 1, 1, 2,  4,  8,  16,           // logical
                                                 1, 1, 1,  4};                   // other
  return sizes[static_cast<int>(e)];
}

// The alignment of its addresses.
constexpr std::size_t alignment_of(Element e) {
  return class_of(e) == ElementClass::complex ? size_of(e) / 2 : size_of(e);
}

static_assert(sizeof(wchar_t) == 4 && sizeof(long double) == 16);

}  // namespace heddle
