// MPI_MINLOC and MPI_MAXLOC: of pairs with the better value, and of equal values that with the lower index.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "op/kernels.hpp"
#include "op/loop.hpp"

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
      std::memcpy(to + offsetof(Pair, value), &a, sizeof a);  // not the gap, which may belong to somebody else
      std::memcpy(to + offsetof(Pair, index), &a_index, sizeof a_index);
    }
  }
  return true;
}

template <class Index>
bool location(Code code, Element value, const void* in, void* inout, std::size_t n) {
  switch (value) {
    case Element::i8:
      return location<std::int8_t, Index>(code, in, inout, n);
    case Element::i16:
      return location<std::int16_t, Index>(code, in, inout, n);
    case Element::i32:
      return location<std::int32_t, Index>(code, in, inout, n);
    case Element::i64:
      return location<std::int64_t, Index>(code, in, inout, n);
    case Element::u8:
      return location<std::uint8_t, Index>(code, in, inout, n);
    case Element::u16:
      return location<std::uint16_t, Index>(code, in, inout, n);
    case Element::u32:
      return location<std::uint32_t, Index>(code, in, inout, n);
    case Element::u64:
      return location<std::uint64_t, Index>(code, in, inout, n);
    case Element::f32:
      return location<float, Index>(code, in, inout, n);
    case Element::f64:
      return location<double, Index>(code, in, inout, n);
    case Element::fx:
      return location<long double, Index>(code, in, inout, n);
    default:
      return false;
  }
}

}  // namespace

bool reduce_location(Code code, Element value, Element index, const void* in, void* inout, std::size_t n) {
  switch (index) {
    case Element::i32:
      return location<std::int32_t>(code, value, in, inout, n);
    case Element::i64:
      return location<std::int64_t>(code, value, in, inout, n);
    case Element::f32:
      return value == index && location<float, float>(code, in, inout, n);  // MPI_2REAL
    case Element::f64:
      return value == index && location<double, double>(code, in, inout, n);  // MPI_2DOUBLE_PRECISION
    default:
      return false;
  }
}

}  // namespace heddle::op
