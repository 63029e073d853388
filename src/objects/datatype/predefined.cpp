// The predefined datatypes (MPI 5.0, section 3.2.2, appendix A): one row each.
//
// The table is constant-initialized and holds no pointers except in a few pair types, so it costs a process that
// starts nothing.
#include "objects/datatype/predefined.hpp"

#include <array>
#include <iterator>

#include "objects/datatype/program.hpp"
#include "objects/datatype/signature.hpp"

namespace heddle {
namespace datatype {
namespace {

struct Row {
  std::uintptr_t constant;
  char name[28];
  Element value;
  Element index = Element::none;
};

// Values of the standard's handle constants: an expression with MPI_INT in it would not be a constant to C++.
constexpr Row rows[] = {
    {0x201, "MPI_AINT", Element::i64},
    {0x202, "MPI_COUNT", Element::i64},
    {0x203, "MPI_OFFSET", Element::i64},
    {0x207, "MPI_PACKED", Element::packed},
    {0x208, "MPI_SHORT", Element::i16},
    {0x209, "MPI_INT", Element::i32},
    {0x20a, "MPI_LONG", Element::i64},
    {0x20b, "MPI_LONG_LONG", Element::i64},
    {0x20c, "MPI_UNSIGNED_SHORT", Element::u16},
    {0x20d, "MPI_UNSIGNED", Element::u32},
    {0x20e, "MPI_UNSIGNED_LONG", Element::u64},
    {0x20f, "MPI_UNSIGNED_LONG_LONG", Element::u64},
    {0x210, "MPI_FLOAT", Element::f32},
    {0x212, "MPI_C_COMPLEX", Element::c32},
    {0x213, "MPI_CXX_FLOAT_COMPLEX", Element::c32},
    {0x214, "MPI_DOUBLE", Element::f64},
    {0x216, "MPI_C_DOUBLE_COMPLEX", Element::c64},
    {0x217, "MPI_CXX_DOUBLE_COMPLEX", Element::c64},
    {0x218, "MPI_LOGICAL", Element::l32},
    {0x219, "MPI_INTEGER", Element::i32},
    {0x21a, "MPI_REAL", Element::f32},
    {0x21b, "MPI_COMPLEX", Element::c32},
    {0x21c, "MPI_DOUBLE_PRECISION", Element::f64},
    {0x21d, "MPI_DOUBLE_COMPLEX", Element::c64},
    {0x21e, "MPI_CHARACTER", Element::character},
    {0x220, "MPI_LONG_DOUBLE", Element::fx},
    {0x224, "MPI_C_LONG_DOUBLE_COMPLEX", Element::cx},
    {0x225, "MPI_CXX_LONG_DOUBLE_COMPLEX", Element::cx},
    {0x228, "MPI_FLOAT_INT", Element::f32, Element::i32},
    {0x229, "MPI_DOUBLE_INT", Element::f64, Element::i32},
    {0x22a, "MPI_LONG_INT", Element::i64, Element::i32},
    {0x22b, "MPI_2INT", Element::i32, Element::i32},
    {0x22c, "MPI_SHORT_INT", Element::i16, Element::i32},
    {0x22d, "MPI_LONG_DOUBLE_INT", Element::fx, Element::i32},
    {0x230, "MPI_2REAL", Element::f32, Element::f32},
    {0x231, "MPI_2DOUBLE_PRECISION", Element::f64, Element::f64},
    {0x232, "MPI_2INTEGER", Element::i32, Element::i32},
    {0x238, "MPI_C_BOOL", Element::c_bool},
    {0x239, "MPI_CXX_BOOL", Element::c_bool},
    {0x23c, "MPI_WCHAR", Element::wide_character},
    {0x240, "MPI_INT8_T", Element::i8},
    {0x241, "MPI_UINT8_T", Element::u8},
    {0x243, "MPI_CHAR", Element::character},
    {0x244, "MPI_SIGNED_CHAR", Element::i8},
    {0x245, "MPI_UNSIGNED_CHAR", Element::u8},
    {0x247, "MPI_BYTE", Element::byte},
    {0x248, "MPI_INT16_T", Element::i16},
    {0x249, "MPI_UINT16_T", Element::u16},
    {0x250, "MPI_INT32_T", Element::i32},
    {0x251, "MPI_UINT32_T", Element::u32},
    {0x258, "MPI_INT64_T", Element::i64},
    {0x259, "MPI_UINT64_T", Element::u64},
    {0x2c0, "MPI_LOGICAL1", Element::l8},
    {0x2c1, "MPI_INTEGER1", Element::i8},
    {0x2c8, "MPI_LOGICAL2", Element::l16},
    {0x2c9, "MPI_INTEGER2", Element::i16},
    {0x2ca, "MPI_REAL2", Element::f16},
    {0x2d0, "MPI_LOGICAL4", Element::l32},
    {0x2d1, "MPI_INTEGER4", Element::i32},
    {0x2d2, "MPI_REAL4", Element::f32},
    {0x2d3, "MPI_COMPLEX4", Element::c16},
    {0x2d8, "MPI_LOGICAL8", Element::l64},
    {0x2d9, "MPI_INTEGER8", Element::i64},
    {0x2da, "MPI_REAL8", Element::f64},
    {0x2db, "MPI_COMPLEX8", Element::c32},
    {0x2e0, "MPI_LOGICAL16", Element::l128},
    {0x2e1, "MPI_INTEGER16", Element::i128},
    {0x2e2, "MPI_REAL16", Element::f128},
    {0x2e3, "MPI_COMPLEX16", Element::c64},
    {0x2eb, "MPI_COMPLEX32", Element::c128},
};
constexpr std::size_t row_count = std::size(rows);
static_assert(row_count < 255);

}  // namespace

constexpr std::array<std::uint8_t, 256> row_of_constant = [] {
  std::array<std::uint8_t, 256> table{};
  for (std::size_t i = 0; i < row_count; ++i) {
    table[rows[i].constant - first_constant] = static_cast<std::uint8_t>(i + 1);
  }
  return table;
}();

namespace {

// The programs of the pairs of a value and an int that are not dense: C's struct { value; int; }.
template <Element value>
struct IntPair {
  static constexpr Element index = Element::i32;
  static constexpr std::size_t size = size_of(value) + size_of(index);
  static constexpr Entry entries[] = {
      {0, 0, 0}, {static_cast<std::int64_t>(index_place(value, index)), size_of(value), 0}, {0, size, 0}};
  static constexpr bool gap = index_place(value, index) != size_of(value);
  static constexpr Node node = gap ? Node{Shape::indexed, 0, size, 0, 2, 0} : Node{Shape::run, 0, size, size, 0, 0};
  static constexpr Program program{&node, entries, nullptr, 0, 0, gap ? 2 : 1};
};

constexpr const Program* int_pair(Element value) {
  switch (value) {
    case Element::i16:
      return &IntPair<Element::i16>::program;
    case Element::i64:
      return &IntPair<Element::i64>::program;
    case Element::f64:
      return &IntPair<Element::f64>::program;
    case Element::fx:
      return &IntPair<Element::fx>::program;
    default:
      return nullptr;
  }
}

}  // namespace

constexpr Predefined::Predefined() {
  static_assert(row_count == std::extent_v<decltype(types)>);
  for (std::size_t i = 0; i < row_count; ++i) {
    types[i].handle = rows[i].constant;
    if (rows[i].index == Element::none) {
      describe_element(types[i], rows[i].value);
    } else {
      describe_pair(types[i], rows[i].value, rows[i].index);
      if (!types[i].dense) types[i].program = int_pair(rows[i].value);
    }
  }
}

constinit Predefined predefined;

const char* predefined_name(const Datatype& type) {
  if (type.handle - first_constant >= row_of_constant.size()) return "";
  return rows[row_of_constant[type.handle - first_constant] - 1].name;
}

}  // namespace datatype

}  // namespace heddle
