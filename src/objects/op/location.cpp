// MPI_MINLOC and MPI_MAXLOC: of pairs with the better value, and of equal values that with the lower index.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "objects/op/kernels.hpp"
#include "objects/op/loop.hpp"

namespace heddle::op {
namespace {

template <class Value, class Index>
bool location(Code code, const void* in, void* inout, std::size_t n) {
  struct Pair {
    Value value;
    Index index;
  };
  const char* from = static_cast<const char*>(in);
  char* to = static_cast<char*>(inout);
  const bool least = code == Code::minloc;
  for (std::size_t i = 0; i < n; ++i, from += sizeof(Pair), to += sizeof(Pair)) {
    const auto a = load<Value>(from + offsetof(Pair, value));
    const auto b = load<Value>(to + offsetof(Pair, value));
    const auto a_index = load<Index>(from + offsetof(Pair, index));
    const auto b_index = load<Index>(to + offsetof(Pair, index));
    if ((least ? a < b : b < a) || (a == b && a_index < b_index)) {
      std::memcpy(to + offsetof(Pair, value), &a, sizeof a);  // not the gap, which may belong to another object
      std::memcpy(to + offsetof(Pair, index), &a_index, sizeof a_index);
    }
  }
  return true;
}

}  // namespace

bool reduce_location(Code code, Element value, Element index, const void* in, void* inout, std::size_t n) {
  if (index != Element::i32) {  // Fortran's pairs: MPI_2REAL, MPI_2DOUBLE_PRECISION
    if (value == Element::f32) return location<float, float>(code, in, inout, n);
    return location<double, double>(code, in, inout, n);
  }
  switch (value) {
    case Element::i16:
      return location<std::int16_t, std::int32_t>(code, in, inout, n);
    case Element::i32:
      return location<std::int32_t, std::int32_t>(code, in, inout, n);
    case Element::i64:
      return location<std::int64_t, std::int32_t>(code, in, inout, n);
    case Element::f32:
      return location<float, std::int32_t>(code, in, inout, n);
    case Element::f64:
      return location<double, std::int32_t>(code, in, inout, n);
    case Element::fx:
      return location<long double, std::int32_t>(code, in, inout, n);
    default:
      return false;
  }
}

}  // namespace heddle::op
