// Every predefined operation on every predefined datatype: whether it is defined as the table of MPI 5.0, section 6.9.2
// says, and what it computes, against one expression per element in C++.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <set>
#include <string_view>
#include <type_traits>
#include <vector>

#include "../datatype/model.hpp"
#include "objects/op/half.hpp"
#include "objects/op/op.hpp"

namespace heddle::test {
namespace {

const MPI_Op arithmetic[] = {MPI_SUM, MPI_PROD};
const MPI_Op order[] = {MPI_MIN, MPI_MAX};
const MPI_Op bitwise[] = {MPI_BAND, MPI_BOR, MPI_BXOR};
const MPI_Op logical[] = {MPI_LAND, MPI_LOR, MPI_LXOR};
const MPI_Op location[] = {MPI_MINLOC, MPI_MAXLOC};

// The groups of the standard's table.
const std::set<MPI_Datatype> c_integer = {MPI_INT,         MPI_LONG,          MPI_SHORT,     MPI_UNSIGNED_SHORT,
                                          MPI_UNSIGNED,    MPI_UNSIGNED_LONG, MPI_LONG_LONG, MPI_UNSIGNED_LONG_LONG,
                                          MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR, MPI_INT8_T,    MPI_INT16_T,
                                          MPI_INT32_T,     MPI_INT64_T,       MPI_UINT8_T,   MPI_UINT16_T,
                                          MPI_UINT32_T,    MPI_UINT64_T};
const std::set<MPI_Datatype> fortran_integer = {MPI_INTEGER,  MPI_INTEGER1, MPI_INTEGER2,
                                                MPI_INTEGER4, MPI_INTEGER8, MPI_INTEGER16};
const std::set<MPI_Datatype> floating = {MPI_FLOAT, MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_REAL,  MPI_DOUBLE_PRECISION,
                                         MPI_REAL2, MPI_REAL4,  MPI_REAL8,       MPI_REAL16};
const std::set<MPI_Datatype> logicals = {MPI_C_BOOL,   MPI_CXX_BOOL, MPI_LOGICAL,  MPI_LOGICAL1,
                                         MPI_LOGICAL2, MPI_LOGICAL4, MPI_LOGICAL8, MPI_LOGICAL16};
const std::set<MPI_Datatype> complexes = {MPI_COMPLEX,
                                          MPI_C_FLOAT_COMPLEX,
                                          MPI_C_DOUBLE_COMPLEX,
                                          MPI_C_LONG_DOUBLE_COMPLEX,
                                          MPI_CXX_FLOAT_COMPLEX,
                                          MPI_CXX_DOUBLE_COMPLEX,
                                          MPI_CXX_LONG_DOUBLE_COMPLEX,
                                          MPI_DOUBLE_COMPLEX,
                                          MPI_COMPLEX4,
                                          MPI_COMPLEX8,
                                          MPI_COMPLEX16,
                                          MPI_COMPLEX32};
const std::set<MPI_Datatype> multi_language = {MPI_AINT, MPI_OFFSET, MPI_COUNT};
const std::set<MPI_Datatype> pairs = {MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_INT,        MPI_2INT,
                                      MPI_SHORT_INT, MPI_2REAL,      MPI_LONG_DOUBLE_INT, MPI_2DOUBLE_PRECISION,
                                      MPI_2INTEGER};

// Beyond the standard, as other libraries, unless HEDDLE_STRICT_CHAR says otherwise.
bool takes_char(MPI_Datatype type) {
  const char* strict = std::getenv("HEDDLE_STRICT_CHAR");
  return type == MPI_CHAR && (strict == nullptr || std::string_view(strict) != "1");
}

bool in_table(MPI_Op op, MPI_Datatype type) {
  const auto one_of = [=](const auto& ops) { return std::find(std::begin(ops), std::end(ops), op) != std::end(ops); };
  const bool integer =
      c_integer.count(type) || fortran_integer.count(type) || multi_language.count(type) || takes_char(type);
  if (one_of(order)) return integer || floating.count(type);
  if (one_of(arithmetic)) return integer || floating.count(type) || complexes.count(type);
  if (one_of(bitwise)) return integer || type == MPI_BYTE;
  if (one_of(logical)) return integer || logicals.count(type);  // Fortran integers: more than the standard asks
  return pairs.count(type) != 0;
}

MPI_Op op_constant(std::uintptr_t value) { return reinterpret_cast<MPI_Op>(value); }
MPI_Datatype type_constant(std::uintptr_t value) { return reinterpret_cast<MPI_Datatype>(value); }

TEST(Table, SaysWhatTheStandardSays) {
  int ops = 0, types = 0;
  for (std::uintptr_t o = 0x20; o < 0x40; ++o) {
    const Op* op = predefined_op(op_constant(o));
    if (op == nullptr) continue;
    ++ops;
    const bool remote = op_constant(o) == MPI_REPLACE || op_constant(o) == MPI_NO_OP;
    types = 0;
    for (std::uintptr_t t = 0x200; t < 0x300; ++t) {
      const Datatype* type = predefined_datatype(type_constant(t));
      if (type == nullptr) continue;
      ++types;
      EXPECT_EQ(type->handle, t);
      const bool expected = !remote && in_table(op_constant(o), type_constant(t));
      EXPECT_EQ(!check_reducible(*op, *type), expected) << std::hex << o << " on " << t;
      if (!expected) {
        EXPECT_EQ(check_reducible(*op, *type).code(), MPI_ERR_OP);
        EXPECT_NE(std::strstr(error_detail().text, "MPI_"), nullptr);
      }
    }
  }
  EXPECT_EQ(ops, 14);
  EXPECT_EQ(types, 70);
  EXPECT_EQ(predefined_datatype(MPI_DATATYPE_NULL), nullptr);
  EXPECT_EQ(predefined_op(MPI_OP_NULL), nullptr);
}

TEST(Table, CharactersAreNoNumbersOnRequest) {
  setenv("HEDDLE_STRICT_CHAR", "1", 1);
  EXPECT_EQ(check_reducible(*predefined_op(MPI_SUM), *predefined_datatype(MPI_CHAR)).code(), MPI_ERR_OP);
  EXPECT_STREQ(error_detail().text, "MPI_SUM is not defined for MPI_CHAR");
  unsetenv("HEDDLE_STRICT_CHAR");
  EXPECT_FALSE(check_reducible(*predefined_op(MPI_SUM), *predefined_datatype(MPI_CHAR)));
}

TEST(Table, DerivedTypesAreForUserOperations) {
  const Modelled number = predefined(MPI_INT);
  const Modelled two = construct({MPI_COMBINER_CONTIGUOUS, true, {2}, 0, {}}, {&number});
  EXPECT_EQ(check_reducible(*predefined_op(MPI_SUM), *two.type).code(), MPI_ERR_OP);
  EXPECT_STREQ(error_detail().text,
               "MPI_SUM is defined for predefined datatypes only, and a datatype made by MPI_Type_contiguous is not");
}

// n elements of T in a buffer that is not aligned.
template <class T>
struct Unaligned {
  explicit Unaligned(std::size_t n) : bytes(n * sizeof(T) + 1) {}
  void* data() { return bytes.data() + 1; }
  T get(std::size_t i) const {
    T value;
    std::memcpy(&value, bytes.data() + 1 + i * sizeof(T), sizeof value);
    return value;
  }
  void set(std::size_t i, T value) { std::memcpy(bytes.data() + 1 + i * sizeof(T), &value, sizeof value); }
  std::vector<unsigned char> bytes;
};

template <class T>
T random_number(Random& random) {
  if constexpr (std::is_integral_v<T> || std::is_same_v<T, __int128>) {
    // Small ones, so that ties and zeros occur, and any.
    return static_cast<T>(random() % 2 ? random() % 4 : random());
  } else {
    return static_cast<T>(static_cast<float>(pick(random, -64, 64)) / 8);
  }
}

template <class T>
void expect_reduction(MPI_Op op, MPI_Datatype type, const std::function<T(T, T)>& expected) {
  Random random(test_seed());
  ASSERT_EQ(predefined_datatype(type)->size, static_cast<MPI_Count>(sizeof(T)));
  for (std::size_t n : {1, 2, 3, 7, 16, 33, 100}) {
    Unaligned<T> in(n), inout(n), before(n);
    for (std::size_t i = 0; i < n; ++i) {
      in.set(i, random_number<T>(random));
      inout.set(i, random_number<T>(random));
    }
    before.bytes = inout.bytes;
    reduce_local(*predefined_op(op), in.data(), inout.data(), static_cast<MPI_Count>(n), *predefined_datatype(type));
    for (std::size_t i = 0; i < n; ++i) {
      const T wanted = expected(in.get(i), before.get(i));
      ASSERT_TRUE(inout.get(i) == wanted)
          << std::hex << reinterpret_cast<std::uintptr_t>(op) << " on " << reinterpret_cast<std::uintptr_t>(type);
    }
  }
}

template <class T, class Wide>
void expect_sum_and_product(MPI_Datatype type) {
  expect_reduction<T>(MPI_SUM, type, [](T a, T b) { return static_cast<T>(Wide(a) + Wide(b)); });
  expect_reduction<T>(MPI_PROD, type, [](T a, T b) { return static_cast<T>(Wide(a) * Wide(b)); });
}

template <class T>
void expect_order(MPI_Datatype type) {
  expect_reduction<T>(MPI_MIN, type, [](T a, T b) { return b < a ? b : a; });
  expect_reduction<T>(MPI_MAX, type, [](T a, T b) { return a < b ? b : a; });
}

template <class T>
void expect_integer(MPI_Datatype type) {
  expect_sum_and_product<T, unsigned __int128>(type);
  expect_order<T>(type);
  expect_reduction<T>(MPI_BAND, type, [](T a, T b) { return static_cast<T>(a & b); });
  expect_reduction<T>(MPI_BOR, type, [](T a, T b) { return static_cast<T>(a | b); });
  expect_reduction<T>(MPI_BXOR, type, [](T a, T b) { return static_cast<T>(a ^ b); });
  expect_reduction<T>(MPI_LAND, type, [](T a, T b) { return static_cast<T>(a && b); });
  expect_reduction<T>(MPI_LOR, type, [](T a, T b) { return static_cast<T>(a || b); });
  expect_reduction<T>(MPI_LXOR, type, [](T a, T b) { return static_cast<T>(!a != !b); });
}

TEST(Integers, AsInC) {
  expect_integer<short>(MPI_SHORT);
  expect_integer<int>(MPI_INT);
  expect_integer<long>(MPI_LONG);
  expect_integer<long long>(MPI_LONG_LONG);
  expect_integer<unsigned short>(MPI_UNSIGNED_SHORT);
  expect_integer<unsigned>(MPI_UNSIGNED);
  expect_integer<unsigned long>(MPI_UNSIGNED_LONG);
  expect_integer<unsigned long long>(MPI_UNSIGNED_LONG_LONG);
  expect_integer<signed char>(MPI_SIGNED_CHAR);
  expect_integer<char>(MPI_CHAR);
  expect_integer<unsigned char>(MPI_UNSIGNED_CHAR);
  expect_integer<std::int8_t>(MPI_INT8_T);
  expect_integer<std::int16_t>(MPI_INT16_T);
  expect_integer<std::int32_t>(MPI_INT32_T);
  expect_integer<std::int64_t>(MPI_INT64_T);
  expect_integer<std::uint8_t>(MPI_UINT8_T);
  expect_integer<std::uint16_t>(MPI_UINT16_T);
  expect_integer<std::uint32_t>(MPI_UINT32_T);
  expect_integer<std::uint64_t>(MPI_UINT64_T);
  expect_integer<int>(MPI_INTEGER);
  expect_integer<std::int8_t>(MPI_INTEGER1);
  expect_integer<std::int16_t>(MPI_INTEGER2);
  expect_integer<std::int32_t>(MPI_INTEGER4);
  expect_integer<std::int64_t>(MPI_INTEGER8);
  expect_integer<__int128>(MPI_INTEGER16);
  expect_integer<MPI_Aint>(MPI_AINT);
  expect_integer<MPI_Count>(MPI_COUNT);
  expect_integer<MPI_Offset>(MPI_OFFSET);
}

template <class T, class Wide = T>
void expect_real(MPI_Datatype type) {
  expect_sum_and_product<T, Wide>(type);
  expect_order<T>(type);
}

TEST(Reals, AsInC) {
  expect_real<float>(MPI_FLOAT);
  expect_real<double>(MPI_DOUBLE);
  expect_real<long double>(MPI_LONG_DOUBLE);
  expect_real<float>(MPI_REAL);
  expect_real<double>(MPI_DOUBLE_PRECISION);
  expect_real<op::Half, float>(MPI_REAL2);
  expect_real<float>(MPI_REAL4);
  expect_real<double>(MPI_REAL8);
  expect_real<__float128>(MPI_REAL16);
}

template <class T>
struct Two {
  T re, im;
  Two() = default;
  Two(T r, T i) : re(r), im(i) {}
  template <class U>
  explicit Two(Two<U> other) : re(other.re), im(other.im) {}
  explicit Two(float r) : re(static_cast<T>(r)), im(static_cast<T>(r / 2 - 1)) {}
  friend Two operator+(Two a, Two b) { return {T(a.re + b.re), T(a.im + b.im)}; }
  friend Two operator*(Two a, Two b) {
    return {T(T(a.re * b.re) - T(a.im * b.im)), T(T(a.re * b.im) + T(a.im * b.re))};
  }
  friend bool operator==(const Two&, const Two&) = default;
};

TEST(Complexes, AsInC) {
  for (MPI_Datatype t : {MPI_COMPLEX, MPI_C_FLOAT_COMPLEX, MPI_CXX_FLOAT_COMPLEX, MPI_COMPLEX8}) {
    expect_sum_and_product<Two<float>, Two<float>>(t);
  }
  for (MPI_Datatype t : {MPI_DOUBLE_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_CXX_DOUBLE_COMPLEX, MPI_COMPLEX16}) {
    expect_sum_and_product<Two<double>, Two<double>>(t);
  }
  for (MPI_Datatype t : {MPI_C_LONG_DOUBLE_COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX}) {
    expect_sum_and_product<Two<long double>, Two<long double>>(t);
  }
  expect_sum_and_product<Two<op::Half>, Two<float>>(MPI_COMPLEX4);
  expect_sum_and_product<Two<__float128>, Two<__float128>>(MPI_COMPLEX32);
}

// With each of the values that compilers use for .TRUE.
template <class T>
void expect_fortran_logical(MPI_Datatype type) {
  for (T yes : {T(1), T(-1)}) {
    for (T a : {T(0), yes}) {
      for (T b : {T(0), yes}) {
        const auto reduce = [&](MPI_Op op) {
          T result = b;
          reduce_local(*predefined_op(op), &a, &result, 1, *predefined_datatype(type));
          return result;
        };
        EXPECT_TRUE(reduce(MPI_LAND) == (a != 0 && b != 0 ? yes : T(0)));
        EXPECT_TRUE(reduce(MPI_LOR) == (a != 0 || b != 0 ? yes : T(0)));
        EXPECT_TRUE(reduce(MPI_LXOR) == ((a != 0) != (b != 0) ? yes : T(0)));
      }
    }
  }
}

TEST(Logicals, KeepTheCompilersTrue) {
  expect_fortran_logical<std::int32_t>(MPI_LOGICAL);
  expect_fortran_logical<std::int8_t>(MPI_LOGICAL1);
  expect_fortran_logical<std::int16_t>(MPI_LOGICAL2);
  expect_fortran_logical<std::int32_t>(MPI_LOGICAL4);
  expect_fortran_logical<std::int64_t>(MPI_LOGICAL8);
  expect_fortran_logical<__int128>(MPI_LOGICAL16);
  for (MPI_Datatype t : {MPI_C_BOOL, MPI_CXX_BOOL}) {
    for (int bits = 0; bits < 4; ++bits) {
      const bool a = bits & 1;
      bool b = bits & 2;
      reduce_local(*predefined_op(MPI_LXOR), &a, &b, 1, *predefined_datatype(t));
      EXPECT_EQ(b, bits == 1 || bits == 2);
    }
  }
}

TEST(Bytes, Bitwise) {
  expect_reduction<unsigned char>(MPI_BXOR, MPI_BYTE,
                                  [](unsigned char a, unsigned char b) -> unsigned char { return a ^ b; });
}

template <class Value, class Index>
void expect_location(MPI_Datatype type) {
  struct Pair {
    Value value;
    Index index;
  };
  ASSERT_EQ(predefined_datatype(type)->extent, static_cast<MPI_Aint>(sizeof(Pair)));
  Random random(test_seed());
  for (int round = 0; round < 200; ++round) {
    Pair a[3], b[3], least[3], most[3];
    std::memset(b, 0xee, sizeof b);
    for (int i = 0; i < 3; ++i) {
      a[i].value = static_cast<Value>(pick(random, -2, 2));
      a[i].index = static_cast<Index>(pick(random, -2, 2));
      b[i].value = static_cast<Value>(pick(random, -2, 2));
      b[i].index = static_cast<Index>(pick(random, -2, 2));
    }
    std::memcpy(least, b, sizeof b);
    std::memcpy(most, b, sizeof b);
    reduce_local(*predefined_op(MPI_MINLOC), a, least, 3, *predefined_datatype(type));
    reduce_local(*predefined_op(MPI_MAXLOC), a, most, 3, *predefined_datatype(type));
    for (int i = 0; i < 3; ++i) {
      Pair low = b[i], high = b[i];
      if (a[i].value < low.value) low = a[i];
      if (a[i].value > high.value) high = a[i];
      if (a[i].value == b[i].value) low.index = high.index = std::min(a[i].index, b[i].index);
      EXPECT_TRUE(least[i].value == low.value && least[i].index == low.index);
      EXPECT_TRUE(most[i].value == high.value && most[i].index == high.index);
    }
    const std::size_t gap = offsetof(Pair, index) - sizeof(Value);
    if (gap > 0) {
      EXPECT_EQ(reinterpret_cast<unsigned char*>(least)[sizeof(Value)], 0xee) << "the gap was touched";
    }
  }
}

TEST(Locations, TheLowestIndexOfTheBestValue) {
  expect_location<float, int>(MPI_FLOAT_INT);
  expect_location<double, int>(MPI_DOUBLE_INT);
  expect_location<long, int>(MPI_LONG_INT);
  expect_location<int, int>(MPI_2INT);
  expect_location<short, int>(MPI_SHORT_INT);
  expect_location<long double, int>(MPI_LONG_DOUBLE_INT);
  expect_location<float, float>(MPI_2REAL);
  expect_location<double, double>(MPI_2DOUBLE_PRECISION);
  expect_location<int, int>(MPI_2INTEGER);
}

// The value of the 16 bits, written with powers of two.
double half_value(unsigned bits) {
  const int exponent = static_cast<int>(bits >> 10 & 0x1f);
  const double fraction = bits & 0x3ff;
  const double magnitude = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

unsigned bits_of(op::Half half) { return half.bits; }

TEST(Half, HoldsEveryValue) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    op::Half half;
    half.bits = static_cast<std::uint16_t>(bits);
    const float value = half;
    if ((bits & 0x7c00) != 0x7c00) {
      EXPECT_EQ(value, half_value(bits));
      EXPECT_EQ(std::signbit(value), bits >= 0x8000);
      EXPECT_EQ(bits_of(op::Half(value)), bits);
    } else if ((bits & 0x3ff) == 0) {
      EXPECT_TRUE(std::isinf(value));
      EXPECT_EQ(bits_of(op::Half(value)), bits);
    } else {
      EXPECT_TRUE(std::isnan(value));
      EXPECT_TRUE(std::isnan(static_cast<float>(op::Half(value))));
    }
  }
}

TEST(Half, RoundsToTheNearestAndToEven) {
  Random random(test_seed());
  for (unsigned bits = 0; bits < 0x7c00; ++bits) {
    const double low = half_value(bits);
    const double high = half_value(bits + 1);  // after the largest comes 2^16, where infinity begins
    const double middle = (low + high) / 2;
    EXPECT_EQ(bits_of(op::Half(static_cast<float>(middle))), bits + (bits & 1)) << bits;
    for (int i = 0; i < 4; ++i) {
      const auto value = static_cast<float>(low + (high - low) * static_cast<double>(pick(random, 0, 1000)) / 1000);
      if (value == middle) continue;
      EXPECT_EQ(bits_of(op::Half(value)), value < middle ? bits : bits + 1) << value;
      EXPECT_EQ(bits_of(op::Half(-value)), (value < middle ? bits : bits + 1) | 0x8000) << value;
    }
  }
  EXPECT_EQ(bits_of(op::Half(1e9f)), 0x7c00u);
  EXPECT_EQ(bits_of(op::Half(1e-9f)), 0u);
}

int calls = 0;

TEST(User, SmallAndLargeFunctions) {
  auto* op = make_object<Op>();
  calls = 0;
  op->function = [](void* in, void* inout, int* len, MPI_Datatype* type) {
    ++calls;
    EXPECT_EQ(*type, MPI_INT);
    for (int i = 0; i < *len; ++i) static_cast<int*>(inout)[i] += 2 * static_cast<int*>(in)[i];
  };
  int in[] = {1, 2, 3}, inout[] = {10, 20, 30};
  reduce_local(*op, in, inout, 3, *predefined_datatype(MPI_INT));
  EXPECT_EQ(inout[0], 12);
  EXPECT_EQ(inout[2], 36);
  EXPECT_EQ(calls, 1);
  op->function = nullptr;
  op->large_function = [](void*, void* inout, MPI_Count* len, MPI_Datatype*) { static_cast<int*>(inout)[0] = *len; };
  reduce_local(*op, in, inout, 3, *predefined_datatype(MPI_INT));
  EXPECT_EQ(inout[0], 3);
  retire(*op);
}

// More elements than an int can count come in several calls.
TEST(User, SmallFunctionsAndLargeCounts) {
  auto* op = make_object<Op>();
  static MPI_Count seen;
  static char* next;
  seen = 0;
  next = nullptr;
  op->function = [](void*, void* inout, int* len, MPI_Datatype*) {
    EXPECT_TRUE(next == nullptr || next == inout);
    next = static_cast<char*>(inout) + std::size_t{4} * static_cast<std::size_t>(*len);
    seen += *len;
    *len = 0;
  };
  char nothing;
  reduce_local(*op, &nothing, &nothing, MPI_Count{5} << 30, *predefined_datatype(MPI_INT));
  EXPECT_EQ(seen, MPI_Count{5} << 30);
  retire(*op);
}

TEST(Remote, ReplaceAndNoOp) {
  int in[] = {1, 2}, inout[] = {3, 4};
  reduce_local(*predefined_op(MPI_NO_OP), in, inout, 2, *predefined_datatype(MPI_INT));
  EXPECT_EQ(inout[1], 4);
  reduce_local(*predefined_op(MPI_REPLACE), in, inout, 2, *predefined_datatype(MPI_INT));
  EXPECT_EQ(inout[1], 2);
}

}  // namespace
}  // namespace heddle::test
