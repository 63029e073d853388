// The common part of the tests of threads: a team of threads of some runtime, numbers from a seed, and messages that show which one they are.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>
#include <vector>

#include "mpi/check.hpp"
#include "runtime.hpp"  // of the thread runtime that the test is for

namespace test {

// How many threads a test has that usually has this many: HEDDLE_TEST_THREADS of the environment, the same for all
// ranks, makes them more, never fewer; a value that is none ends the test. Where tags of several kinds are in use at the
// same time, the tests leave room for most_threads between them.
inline constexpr int most_threads = 200;
inline int team_size(int usual) {
  const char* asked = std::getenv("HEDDLE_TEST_THREADS");
  if (asked == nullptr) return usual;
  const std::string_view digits = asked;
  int threads = 0;
  const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), threads);
  if (error != std::errc() || rest != digits.data() + digits.size() || threads < 1 || threads > most_threads) {
    std::fprintf(stderr, "HEDDLE_TEST_THREADS is a number of threads from 1 to %d, not \"%s\"\n", most_threads, asked);
    std::exit(1);
  }
  return std::max(usual, threads);
}
// The same, for a test in which the threads are pairs.
inline int even_team_size(int usual) { return (team_size(usual) + 1) / 2 * 2; }

// One 64-bit number out of others (the finalizer of MurmurHash3, applied in turn).
template <class... Words>
constexpr std::uint64_t mix(Words... words) {
  std::uint64_t h = 0x9e3779b97f4a7c15;
  const auto add = [&h](std::uint64_t word) {
    h ^= word;
    h = (h ^ (h >> 33)) * 0xff51afd7ed558ccd;
    h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53;
    h ^= h >> 33;
  };
  (add(static_cast<std::uint64_t>(words)), ...);
  return h;
}

// The same numbers wherever the seed is the same.
class Random {
 public:
  template <class... Words>
  explicit Random(Words... seed) : state_(mix(seed...)) {}

  std::uint64_t next() { return mix(state_++); }
  int below(int n) { return static_cast<int>(next() % static_cast<std::uint64_t>(n)); }
  bool one_in(int n) { return below(n) == 0; }
  template <class All>
  const auto& of(const All& all) {
    return all[next() % std::size(all)];
  }

 private:
  std::uint64_t state_;
};

// Sizes of messages, in bytes, on both sides of the borders that protocols have.
inline constexpr int sizes[] = {0,    1,    8,     40,    41,    64,    104,    105,    256,
                                1000, 4096, 16384, 16385, 40000, 65536, 131072, 131073, 262144};
inline int any_size(Random& random) { return random.of(sizes); }

// The bytes of the message whose key this is: no two messages, and no two places of one, look the same.
inline void fill(std::span<unsigned char> data, std::uint64_t key) {
  std::uint64_t word = mix(key);
  for (std::size_t at = 0; at < data.size(); at += sizeof word, word += 0x9e3779b97f4a7c15)
    std::memcpy(&data[at], &word, std::min(sizeof word, data.size() - at));
}
inline std::vector<unsigned char> message(std::uint64_t key, int bytes) {
  std::vector<unsigned char> data(static_cast<std::size_t>(bytes));
  fill(data, key);
  return data;
}
inline void expect_message(std::span<const unsigned char> data, std::uint64_t key, const char* what,
                           std::source_location at = std::source_location::current()) {
  const std::vector<unsigned char> expected = message(key, static_cast<int>(data.size()));
  const auto [got, wanted] = std::mismatch(data.begin(), data.end(), expected.begin());
  if (got != data.end()) test::equal(*got, *wanted, what, at);
}

inline int count_of(const MPI_Status& status, MPI_Datatype type) {
  int count;
  MPI_Get_count(&status, type, &count);
  return count;
}

inline int right() { return (rank() + 1) % size(); }
inline int left() { return (rank() + size() - 1) % size(); }

}  // namespace test
