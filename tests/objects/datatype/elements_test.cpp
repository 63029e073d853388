// Basic elements: counting them in part of a stream, external32, signatures.
#include <gtest/gtest.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <numeric>

#include "model.hpp"
#include "objects/datatype/elements.hpp"
#include "objects/datatype/external.hpp"
#include "objects/datatype/signature.hpp"
#include "objects/datatype/unnamed.hpp"

namespace heddle::test {
namespace {

constexpr int rounds = 300;

// Sizes of the basic elements of `count` elements, in the order of the stream.
std::vector<MPI_Count> element_sizes(const TypeMap& map, MPI_Count count) {
  std::vector<MPI_Count> sizes;
  for (MPI_Count i = 0; i < count; ++i) {
    for (const TypeMap::Item& item : map.items) sizes.push_back(static_cast<MPI_Count>(size_of(item.element)));
  }
  return sizes;
}

TEST(Elements, InAnyNumberOfBytes) {
  Random random(test_seed());
  for (int round = 0; round < rounds && !HasFailure(); ++round) {
    const Modelled made = random_type(random, 4);
    SCOPED_TRACE(made.text);
    const auto sizes = element_sizes(made.map, 2);
    const MPI_Count total = std::accumulate(sizes.begin(), sizes.end(), MPI_Count{0});
    MPI_Count bytes = 0;
    std::size_t elements = 0;
    for (MPI_Count n = 0; n <= total; ++n) {
      while (elements < sizes.size() && bytes + sizes[elements] <= n) bytes += sizes[elements++];
      const MPI_Count expected = bytes == n ? static_cast<MPI_Count>(elements) : MPI_Count{MPI_UNDEFINED};
      ASSERT_EQ(datatype::elements_in(*made.type, n), expected) << n;
      if (bytes != n) continue;
      ASSERT_EQ(datatype::bytes_of_elements(*made.type, static_cast<MPI_Count>(elements)), n);
    }
  }
}

TEST(Signature, ForgetsHowATypeWasMade) {
  const Modelled number = predefined(MPI_INT);
  const Modelled real = predefined(MPI_DOUBLE);
  const Modelled strided = construct({MPI_COMBINER_VECTOR, true, {3, 2, 5}, 0, {}}, {&number});
  const Modelled list = construct({MPI_COMBINER_INDEXED, true, {2, 1, 5, 9, 1}, 0, {}}, {&number});
  EXPECT_EQ(signature_of(*strided.type), signature_of(*list.type));
  EXPECT_EQ(signature_of(*strided.type, 4), signature_of(*number.type, 24));
  EXPECT_FALSE(signature_of(*strided.type, 4) == signature_of(*number.type, 23));
  const Modelled both = construct({MPI_COMBINER_STRUCT, true, {2, 1, 1, 0, 8}, 0, {}}, {&number, &real});
  const Modelled swapped = construct({MPI_COMBINER_STRUCT, true, {2, 1, 1, 8, 0}, 0, {}}, {&real, &number});
  EXPECT_EQ(signature_of(*both.type), signature_of(*number.type) + signature_of(*real.type));
  EXPECT_FALSE(signature_of(*both.type) == signature_of(*swapped.type));
  EXPECT_EQ(signature_of(*predefined_datatype(MPI_2INT)), signature_of(*number.type, 2));
}

template <class T>
std::vector<unsigned char> encoded(MPI_Datatype constant, T value) {
  const Datatype& type = *predefined_datatype(constant);
  std::vector<unsigned char> out(static_cast<std::size_t>(datatype::external_size(type)));
  EXPECT_FALSE(datatype::encode_external(type, &value, 1, out.data()));
  T back;
  std::memset(&back, 0, sizeof back);
  EXPECT_FALSE(datatype::decode_external(type, &back, 1, out.data()));
  EXPECT_TRUE(back == value);
  return out;
}

using Bytes = std::vector<unsigned char>;

// The widths of the standard's table, and bytes worked out by hand.
TEST(External, Bytes) {
  EXPECT_EQ(encoded<int>(MPI_INT, 0x01020304), (Bytes{1, 2, 3, 4}));
  EXPECT_EQ(encoded<short>(MPI_SHORT, -2), (Bytes{0xff, 0xfe}));
  EXPECT_EQ(encoded<long>(MPI_LONG, -3), (Bytes{0xff, 0xff, 0xff, 0xfd}));
  EXPECT_EQ(encoded<unsigned long>(MPI_UNSIGNED_LONG, 0xfffffffe), (Bytes{0xff, 0xff, 0xff, 0xfe}));
  EXPECT_EQ(encoded<long long>(MPI_LONG_LONG, -3), (Bytes{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfd}));
  EXPECT_EQ(encoded<wchar_t>(MPI_WCHAR, L'\u20ac'), (Bytes{0x20, 0xac}));
  EXPECT_EQ(encoded<double>(MPI_DOUBLE, 1.5), (Bytes{0x3f, 0xf8, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(encoded<float>(MPI_FLOAT, -2), (Bytes{0xc0, 0, 0, 0}));
  // IEEE quadruple: 15 bits of exponent, a hidden bit.
  EXPECT_EQ(encoded<long double>(MPI_LONG_DOUBLE, 1.5L),
            (Bytes{0x3f, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(encoded<long double>(MPI_LONG_DOUBLE, 3.14159265358979323846L).size(), 16u);
  EXPECT_EQ(encoded<bool>(MPI_C_BOOL, true), (Bytes{1}));
  struct Pair {
    long value;
    int index;
    bool operator==(const Pair& o) const { return value == o.value && index == o.index; }
  };
  EXPECT_EQ(encoded<Pair>(MPI_LONG_INT, {5, 6}), (Bytes{0, 0, 0, 5, 0, 0, 0, 6}));
  const float both[] = {1, 2};
  Bytes out(8);
  EXPECT_FALSE(datatype::encode_external(*predefined_datatype(MPI_COMPLEX), both, 1, out.data()));
  EXPECT_EQ(out, (Bytes{0x3f, 0x80, 0, 0, 0x40, 0, 0, 0}));
}

// Both ways, against the compiler's quadruple: every number of the x87's format is one.
TEST(External, LongDoubleIsExact) {
  Random random(test_seed());
  const Datatype& type = *predefined_datatype(MPI_LONG_DOUBLE);
  std::vector<long double> numbers{0.0L,     -0.0L,         HUGE_VALL,      -HUGE_VALL,      LDBL_MAX,
                                   LDBL_MIN, LDBL_TRUE_MIN, -LDBL_TRUE_MIN, 1 + LDBL_EPSILON};
  for (int i = 0; i < 1000; ++i)
    numbers.push_back(
        std::ldexp(static_cast<long double>(random()) * 4294967296.0L + static_cast<long double>(random()),
                   static_cast<int>(pick(random, -16500, 16300))) *
        (i % 2 == 0 ? 1 : -1));
  for (const long double number : numbers) {
    const __float128 wide = number;
    Bytes expected(sizeof wide), bytes(sizeof wide);
    std::reverse_copy(reinterpret_cast<const unsigned char*>(&wide), reinterpret_cast<const unsigned char*>(&wide + 1),
                      expected.begin());
    EXPECT_FALSE(datatype::encode_external(type, &number, 1, bytes.data()));
    EXPECT_EQ(bytes, expected) << number;
    long double back = 0;
    EXPECT_FALSE(datatype::decode_external(type, &back, 1, bytes.data()));
    EXPECT_EQ(std::memcmp(&back, &number, 10), 0) << number;
  }
}

TEST(External, RefusesWhatDoesNotFit) {
  const long large = 1L << 40;
  char out[4];
  EXPECT_EQ(datatype::encode_external(*predefined_datatype(MPI_LONG), &large, 1, out).code(), MPI_ERR_CONVERSION);
}

// Small numbers, which every representation of their element holds.
void put_number(Random& random, Element element, void* at) {
  const auto put = [=](auto number) { std::memcpy(at, &number, sizeof number); };
  const auto small = static_cast<int>(pick(random, -100, 100));
  switch (element) {
    case Element::i16:
      return put(static_cast<short>(small));
    case Element::i32:
      return put(small);
    case Element::f32:
      return put(static_cast<float>(small) / 4);
    case Element::f64:
      return put(static_cast<double>(small) / 4);
    case Element::fx: {
      std::memset(at, 0, sizeof(long double));  // the bytes that are no part of the number
      const long double number = static_cast<long double>(small) / 4;
      std::memcpy(at, &number, 10);
      return;
    }
    default:
      std::memset(at, small, 1);
  }
}

bool overlaps(std::vector<MPI_Aint> places) {
  std::sort(places.begin(), places.end());
  return std::adjacent_find(places.begin(), places.end()) != places.end();
}

TEST(External, ThereAndBackInAnyLayout) {
  Random random(test_seed());
  for (int round = 0; round < rounds && !HasFailure(); ++round) {
    const Modelled made = random_type(random, 4);
    SCOPED_TRACE(made.text);
    const MPI_Count count = pick(random, 0, 3);
    if (overlaps(byte_places(made.map, count))) continue;
    Buffer buffer(made.map, count, 0);
    for (MPI_Count i = 0; i < count; ++i) {
      for (const TypeMap::Item& item : made.map.items) {
        put_number(random, item.element, &buffer.at(i * made.map.extent() + item.disp));
      }
    }
    Bytes out(static_cast<std::size_t>(datatype::external_size(*made.type) * count));
    ASSERT_FALSE(datatype::encode_external(*made.type, buffer.address(), count, out.data()));
    Buffer back(made.map, count, 0);
    ASSERT_FALSE(datatype::decode_external(*made.type, back.address(), count, out.data()));
    EXPECT_EQ(back.bytes(), buffer.bytes());
  }
}

TEST(Unnamed, TheSameForTheSame) {
  Datatype& first = datatype::unnamed_f90(MPI_COMBINER_F90_REAL, 6, 30, Element::f32);
  EXPECT_EQ(&first, &datatype::unnamed_f90(MPI_COMBINER_F90_REAL, 6, 30, Element::f32));
  EXPECT_NE(&first, &datatype::unnamed_f90(MPI_COMBINER_F90_REAL, 5, 30, Element::f32));
  EXPECT_TRUE(first.predefined && first.committed && first.dense);
  EXPECT_EQ(first.size, 4);
}

}  // namespace
}  // namespace heddle::test
