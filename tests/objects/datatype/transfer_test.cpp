// Random datatypes: what they measure, and what pack, unpack, segments and copy do with them, against their type maps.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "model.hpp"
#include "objects/datatype/make.hpp"

namespace heddle::test {
namespace {

constexpr int rounds = 400;

std::vector<unsigned char> random_bytes(Random& random, std::size_t n) {
  std::vector<unsigned char> bytes(n);
  for (unsigned char& b : bytes) b = static_cast<unsigned char>(random());
  return bytes;
}

template <class Body>
void for_random_types(int depth, Body&& body) {
  Random random(test_seed());
  for (int round = 0; round < rounds && !testing::Test::HasFailure(); ++round) {
    const Modelled made = random_type(random, depth);
    SCOPED_TRACE(made.text);
    body(random, made);
  }
}

std::vector<unsigned char> gather(Buffer& buffer, const std::vector<MPI_Aint>& places) {
  std::vector<unsigned char> stream;
  for (MPI_Aint place : places) stream.push_back(buffer.at(place));
  return stream;
}

void fill(Buffer& buffer, Random& random) {
  const auto bytes = random_bytes(random, buffer.bytes().size());
  std::copy(bytes.begin(), bytes.end(), buffer.bytes().begin());
}

TEST(Measures, MatchTheTypeMap) {
  for_random_types(5, [](Random&, const Modelled& made) {
    const Datatype& type = *made.type;
    EXPECT_EQ(type.size, made.map.size());
    EXPECT_EQ(type.lb, made.map.lb());
    EXPECT_EQ(type.extent, made.map.extent());
    EXPECT_EQ(type.true_lb, made.map.true_lb());
    EXPECT_EQ(type.true_extent, made.map.true_ub() - made.map.true_lb());
    EXPECT_EQ(type.elements, static_cast<MPI_Count>(made.map.items.size()));
  });
}

TEST(Pack, TakesAnyWindow) {
  for_random_types(4, [](Random& random, const Modelled& made) {
    const MPI_Count count = pick(random, 0, 4);
    Buffer buffer(made.map, count, 0);
    fill(buffer, random);
    const auto expected = gather(buffer, byte_places(made.map, count));
    const std::size_t size = packed_size(*made.type, count);
    ASSERT_EQ(size, expected.size());

    std::vector<unsigned char> packed(size);
    pack(*made.type, buffer.address(), count, 0, packed.data(), size);
    EXPECT_EQ(packed, expected);
    for (std::size_t offset = 0; offset < size; offset += size < 500 ? 1 : 97) {
      const std::size_t n = static_cast<std::size_t>(pick(random, 1, static_cast<MPI_Count>(size - offset)));
      std::vector<unsigned char> window(n);  // of exactly this size, so that the sanitizer sees a byte too many
      pack(*made.type, buffer.address(), count, offset, window.data(), n);
      ASSERT_TRUE(std::equal(window.begin(), window.end(), expected.begin() + static_cast<std::ptrdiff_t>(offset)))
          << offset << " + " << n;
    }
  });
}

TEST(Unpack, TakesAnyWindowAndTouchesNothingElse) {
  for_random_types(4, [](Random& random, const Modelled& made) {
    const MPI_Count count = pick(random, 0, 4);
    const auto places = byte_places(made.map, count);
    const std::size_t size = places.size();
    const auto stream = random_bytes(random, size);
    for (int attempt = 0; attempt < 20; ++attempt) {
      const auto offset = attempt == 0 ? 0 : static_cast<std::size_t>(pick(random, 0, static_cast<MPI_Count>(size)));
      const auto n =
          attempt == 0 ? size : static_cast<std::size_t>(pick(random, 0, static_cast<MPI_Count>(size - offset)));
      Buffer expected(made.map, count, 0xee);
      for (std::size_t i = 0; i < n; ++i) expected.at(places[offset + i]) = stream[offset + i];
      Buffer buffer(made.map, count, 0xee);
      const std::vector<unsigned char> window(stream.begin() + static_cast<std::ptrdiff_t>(offset),
                                              stream.begin() + static_cast<std::ptrdiff_t>(offset + n));
      unpack(*made.type, buffer.address(), count, offset, window.data(), n);
      ASSERT_EQ(buffer.bytes(), expected.bytes()) << offset << " + " << n;
    }
  });
}

TEST(Segments, AreTheStreamInOrderAndMaximal) {
  for_random_types(4, [](Random& random, const Modelled& made) {
    const MPI_Count count = pick(random, 0, 4);
    Buffer buffer(made.map, count, 0);
    fill(buffer, random);
    const auto expected = gather(buffer, byte_places(made.map, count));
    const auto start = static_cast<std::size_t>(pick(random, 0, static_cast<MPI_Count>(expected.size())));
    const auto max = static_cast<std::size_t>(pick(random, 1, 7));
    std::vector<unsigned char> got;
    for (std::size_t offset = start;;) {
      std::vector<iovec> runs(max);
      std::size_t bytes = 1;
      const std::size_t found = segments(*made.type, buffer.address(), count, offset, runs.data(), max, bytes);
      ASSERT_LE(found, max);
      for (std::size_t i = 0; i < found; ++i) {
        const auto* begin = static_cast<const unsigned char*>(runs[i].iov_base);
        ASSERT_GT(runs[i].iov_len, 0u);
        if (i > 0) {
          EXPECT_NE(static_cast<unsigned char*>(runs[i - 1].iov_base) + runs[i - 1].iov_len, begin);
        }
        got.insert(got.end(), begin, begin + runs[i].iov_len);
      }
      offset += bytes;
      ASSERT_EQ(offset - start, got.size());
      if (found == 0) break;
    }
    EXPECT_TRUE(
        std::equal(got.begin(), got.end(), expected.begin() + static_cast<std::ptrdiff_t>(start), expected.end()));
  });
}

TEST(Copy, LeadsFromLayoutToLayout) {
  Random random(test_seed());
  for (int round = 0; round < rounds && !HasFailure(); ++round) {
    const Modelled from = random_type(random, 4);
    const Modelled to = random_type(random, 4);
    SCOPED_TRACE(from.text + " -> " + to.text);
    const MPI_Count from_count = pick(random, 0, 50);
    const MPI_Count to_count = pick(random, 0, 50);
    Buffer source(from.map, from_count, 0);
    fill(source, random);
    const auto from_places = byte_places(from.map, from_count);
    const auto to_places = byte_places(to.map, to_count);
    const std::size_t n = std::min(from_places.size(), to_places.size());
    Buffer expected(to.map, to_count, 0xee);
    for (std::size_t i = 0; i < n; ++i) expected.at(to_places[i]) = source.at(from_places[i]);
    Buffer target(to.map, to_count, 0xee);
    EXPECT_EQ(copy(*from.type, source.address(), from_count, *to.type, target.address(), to_count), n);
    EXPECT_EQ(target.bytes(), expected.bytes());
  }
}

// Runs of all lengths that the kernels tell apart, and copies through every path of copy().
TEST(Copy, OfEveryBlockLength) {
  Random random(test_seed());
  const Modelled byte = predefined(MPI_BYTE);
  for (MPI_Count length = 1; length < 700; length += length < 70 ? 1 : 61) {
    Modelled from = construct({MPI_COMBINER_VECTOR, true, {40, length, length + 3}, 0, {}}, {&byte});
    Modelled to = construct({MPI_COMBINER_VECTOR, true, {length, 40, 41}, 0, {}}, {&byte});
    commit(const_cast<Datatype&>(*from.type));
    commit(const_cast<Datatype&>(*to.type));
    for (int direction = 0; direction < 2; ++direction, std::swap(from, to)) {
      Buffer source(from.map, 2, 0);
      fill(source, random);
      Buffer expected(to.map, 2, 0xee);
      const auto from_places = byte_places(from.map, 2);
      const auto to_places = byte_places(to.map, 2);
      for (std::size_t i = 0; i < from_places.size(); ++i) expected.at(to_places[i]) = source.at(from_places[i]);
      Buffer target(to.map, 2, 0xee);
      copy(*from.type, source.address(), 2, *to.type, target.address(), 2);
      ASSERT_EQ(target.bytes(), expected.bytes()) << length;
    }
  }
}

// Runs are copied in three ways by their length; each at its edges, and nothing beside them.
TEST(Pack, RunsOfEveryLength) {
  Random random(test_seed());
  const Modelled byte = predefined(MPI_BYTE);
  for (const std::size_t edge : {std::size_t{4}, std::size_t{8}, std::size_t{16}, datatype::copy_piece,
                                 3 * datatype::copy_piece, datatype::most_in_pieces}) {
    for (std::size_t n = edge - 1; n <= edge + 1; ++n) {
      const auto data = random_bytes(random, n);
      std::vector<unsigned char> packed(n + 2, 0xee), unpacked(n + 2, 0xee), expected(n + 2, 0xee);
      std::copy(data.begin(), data.end(), expected.begin() + 1);
      pack(*byte.type, data.data(), static_cast<MPI_Count>(n), 0, packed.data() + 1, n);
      EXPECT_EQ(packed, expected) << n;
      unpack(*byte.type, unpacked.data() + 1, static_cast<MPI_Count>(n), 0, data.data(), n);
      EXPECT_EQ(unpacked, expected) << n;
    }
  }
}

TEST(Commit, FindsTheSameRunHoweverItIsNested) {
  const Modelled number = predefined(MPI_INT);
  Modelled row = construct({MPI_COMBINER_CONTIGUOUS, true, {6}, 0, {}}, {&number});
  Modelled field = construct({MPI_COMBINER_HVECTOR, true, {5, 1, 24}, 0, {}}, {&row});
  Modelled pieces = construct({MPI_COMBINER_INDEXED, true, {3, 2, 1, 1, 0, 2, 3}, 0, {}}, {&field});
  auto& type = const_cast<Datatype&>(*pieces.type);
  commit(type);
  EXPECT_TRUE(type.dense);
  EXPECT_EQ(type.size, 4 * 5 * 24);
  EXPECT_EQ(type.program, nullptr);
}

TEST(Make, RefusesWhatDoesNotFit) {
  const Datatype& number = *predefined_datatype(MPI_INT);
  const MPI_Count huge = MPI_Count{1} << 62;
  const datatype::Contents cases[] = {
      {MPI_COMBINER_CONTIGUOUS, true, {huge}, 0, {&number}},
      {MPI_COMBINER_VECTOR, true, {2, 1, huge}, 0, {&number}},
      {MPI_COMBINER_HVECTOR, true, {huge, huge, 0}, 0, {&number}},
      {MPI_COMBINER_HINDEXED, true, {2, 1, 1, -huge, huge}, 0, {&number}},
      {MPI_COMBINER_RESIZED, true, {huge, huge}, 0, {&number}},
  };
  for (const auto& c : cases) {
    Datatype* made = nullptr;
    datatype::Contents copy = c;
    EXPECT_EQ(datatype::make(std::move(copy), made).code(), MPI_ERR_ARG) << c.combiner;
  }
}

}  // namespace
}  // namespace heddle::test
