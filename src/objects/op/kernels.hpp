// The loops of the predefined operations.
//
// The loop is chosen by the number's kind and width, with one loop for equal ones. Signedness does not matter to sums
// and products (they wrap), nor width to bitwise operations. The choice is made by switches, not by tables of
// functions, because a table costs every process a relocated page.
//
// User data need not be aligned, so elements are loaded and stored through memcpy, which compiles to plain moves.
#pragma once

#include <cstddef>

#include "objects/datatype/element.hpp"

namespace heddle::op {

enum class Code : std::uint8_t {  // the low bits of the standard's constants
  null = 0x20,
  sum,
  min,
  max,
  prod,
  band = 0x28,
  bor,
  bxor,
  land = 0x30,
  lor,
  lxor,
  minloc = 0x38,
  maxloc,
  replace = 0x3c,
  no_op
};

// inout[i] = in[i] op inout[i] for n elements; false if the operation is not defined for them. n may be 0, to ask.
bool reduce_arithmetic(Code code, Element element, const void* in, void* inout, std::size_t n);
bool reduce_logical(Code code, Element element, const void* in, void* inout, std::size_t n);
// For pairs as C lays out struct { value; index; }.
bool reduce_location(Code code, Element value, Element index, const void* in, void* inout, std::size_t n);

}  // namespace heddle::op
