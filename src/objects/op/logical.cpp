// MPI_LAND, MPI_LOR, MPI_LXOR.
//
// C's result is 0 or 1. The Fortran compiler chooses the value of .TRUE. (1 or all bits set), so a true result there is
// a copy of an operand that is true.
#include <cstdint>

#include "objects/op/kernels.hpp"
#include "objects/op/loop.hpp"

namespace heddle::op {
namespace {

template <class T, bool fortran>
bool logical(Code code, const void* in, void* inout, std::size_t n) {
  const auto one_of = [](bool truth, T a, T b) -> T {
    if (!fortran) return truth;
    return !truth ? T{0} : a != 0 ? a : b;
  };
  switch (code) {
    case Code::land:
      for_each<T>(in, inout, n, [=](T a, T b) { return one_of(a != 0 && b != 0, a, b); });
      break;
    case Code::lor:
      for_each<T>(in, inout, n, [=](T a, T b) { return one_of(a != 0 || b != 0, a, b); });
      break;
    default:
      for_each<T>(in, inout, n, [=](T a, T b) { return one_of((a != 0) != (b != 0), a, b); });
      break;
  }
  return true;
}

}  // namespace

bool reduce_logical(Code code, Element element, const void* in, void* inout, std::size_t n) {
  switch (element) {
    case Element::c_bool:
    case Element::i8:
    case Element::u8:
      return logical<std::uint8_t, false>(code, in, inout, n);
    case Element::i16:
    case Element::u16:
      return logical<std::uint16_t, false>(code, in, inout, n);
    case Element::i32:
    case Element::u32:
      return logical<std::uint32_t, false>(code, in, inout, n);
    case Element::i64:
    case Element::u64:
      return logical<std::uint64_t, false>(code, in, inout, n);
    case Element::i128:
      return logical<unsigned __int128, false>(code, in, inout, n);
    case Element::l8:
      return logical<std::uint8_t, true>(code, in, inout, n);
    case Element::l16:
      return logical<std::uint16_t, true>(code, in, inout, n);
    case Element::l32:
      return logical<std::uint32_t, true>(code, in, inout, n);
    case Element::l64:
      return logical<std::uint64_t, true>(code, in, inout, n);
    case Element::l128:
      return logical<unsigned __int128, true>(code, in, inout, n);
    default:
      return false;
  }
}

}  // namespace heddle::op
