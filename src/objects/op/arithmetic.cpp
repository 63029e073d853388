// MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX, MPI_BAND, MPI_BOR, MPI_BXOR. Compiled for vectors (see CMakeLists.txt).
#include <cstdint>

#include "objects/op/half.hpp"
#include "objects/op/kernels.hpp"
#include "objects/op/loop.hpp"

namespace heddle::op {
namespace {

template <class T>
struct Complex {
  T re, im;

  friend Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
  friend Complex operator*(Complex a, Complex b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
};

// The type for addition and multiplication: integers wrap, which only unsigned ones may.
template <class T>
struct Wrapping {
  using type = T;
};
template <>
struct Wrapping<std::uint8_t> {
  using type = std::uint32_t;
};
template <>
struct Wrapping<std::uint16_t> {
  using type = std::uint32_t;  // the product of two would overflow int, to which they are promoted
};

template <class T>
using wrapping_t = typename Wrapping<T>::type;

template <class T>
bool sum_or_product(Code code, const void* in, void* inout, std::size_t n) {
  using W = wrapping_t<T>;
  if (code == Code::sum) {
    for_each<T>(in, inout, n, [](T a, T b) { return static_cast<T>(W(a) + W(b)); });
  } else {
    for_each<T>(in, inout, n, [](T a, T b) { return static_cast<T>(W(a) * W(b)); });
  }
  return true;
}

bool sum_or_product(Code code, Element element, const void* in, void* inout, std::size_t n) {
  switch (element) {
    case Element::i8:
    case Element::u8:
      return sum_or_product<std::uint8_t>(code, in, inout, n);
    case Element::i16:
    case Element::u16:
      return sum_or_product<std::uint16_t>(code, in, inout, n);
    case Element::i32:
    case Element::u32:
      return sum_or_product<std::uint32_t>(code, in, inout, n);
    case Element::i64:
    case Element::u64:
      return sum_or_product<std::uint64_t>(code, in, inout, n);
    case Element::i128:
      return sum_or_product<unsigned __int128>(code, in, inout, n);
    case Element::f16:
      return sum_or_product<Half>(code, in, inout, n);
    case Element::f32:
      return sum_or_product<float>(code, in, inout, n);
    case Element::f64:
      return sum_or_product<double>(code, in, inout, n);
    case Element::fx:
      return sum_or_product<long double>(code, in, inout, n);
    case Element::f128:
      return sum_or_product<__float128>(code, in, inout, n);
    case Element::c16:
      return sum_or_product<Complex<Half>>(code, in, inout, n);
    case Element::c32:
      return sum_or_product<Complex<float>>(code, in, inout, n);
    case Element::c64:
      return sum_or_product<Complex<double>>(code, in, inout, n);
    case Element::cx:
      return sum_or_product<Complex<long double>>(code, in, inout, n);
    case Element::c128:
      return sum_or_product<Complex<__float128>>(code, in, inout, n);
    default:
      return false;
  }
}

template <class T>
bool min_or_max(Code code, const void* in, void* inout, std::size_t n) {
  if (code == Code::min) {
    for_each<T>(in, inout, n, [](T a, T b) { return a < b ? a : b; });
  } else {
    for_each<T>(in, inout, n, [](T a, T b) { return a > b ? a : b; });
  }
  return true;
}

bool min_or_max(Code code, Element element, const void* in, void* inout, std::size_t n) {
  switch (element) {
    case Element::i8:
      return min_or_max<std::int8_t>(code, in, inout, n);
    case Element::i16:
      return min_or_max<std::int16_t>(code, in, inout, n);
    case Element::i32:
      return min_or_max<std::int32_t>(code, in, inout, n);
    case Element::i64:
      return min_or_max<std::int64_t>(code, in, inout, n);
    case Element::i128:
      return min_or_max<__int128>(code, in, inout, n);
    case Element::u8:
      return min_or_max<std::uint8_t>(code, in, inout, n);
    case Element::u16:
      return min_or_max<std::uint16_t>(code, in, inout, n);
    case Element::u32:
      return min_or_max<std::uint32_t>(code, in, inout, n);
    case Element::u64:
      return min_or_max<std::uint64_t>(code, in, inout, n);
    case Element::f16:
      return min_or_max<Half>(code, in, inout, n);
    case Element::f32:
      return min_or_max<float>(code, in, inout, n);
    case Element::f64:
      return min_or_max<double>(code, in, inout, n);
    case Element::fx:
      return min_or_max<long double>(code, in, inout, n);
    case Element::f128:
      return min_or_max<__float128>(code, in, inout, n);
    default:
      return false;
  }
}

bool bitwise(Code code, Element element, const void* in, void* inout, std::size_t n) {
  const ElementClass kind = class_of(element);
  if (kind != ElementClass::integer && kind != ElementClass::byte) return false;
  using Byte = std::uint8_t;
  n *= size_of(element);
  switch (code) {
    case Code::band:
      for_each<Byte>(in, inout, n, [](Byte a, Byte b) -> Byte { return a & b; });
      break;
    case Code::bor:
      for_each<Byte>(in, inout, n, [](Byte a, Byte b) -> Byte { return a | b; });
      break;
    default:
      for_each<Byte>(in, inout, n, [](Byte a, Byte b) -> Byte { return a ^ b; });
      break;
  }
  return true;
}

}  // namespace

bool reduce_arithmetic(Code code, Element element, const void* in, void* inout, std::size_t n) {
  switch (code) {
    case Code::sum:
    case Code::prod:
      return sum_or_product(code, element, in, inout, n);
    case Code::min:
    case Code::max:
      return min_or_max(code, element, in, inout, n);
    case Code::band:
    case Code::bor:
    case Code::bxor:
      return bitwise(code, element, in, inout, n);
    default:
      return false;
  }
}

}  // namespace heddle::op
