// Freed communicators that were never shared: the answers of a set, in the memory of a few runs.
#include "mpi/ft/left_contexts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <set>
#include <vector>

namespace heddle::ft {
namespace {

constexpr Context context(std::uint64_t number) { return number * contexts_apart; }

TEST(LeftContexts, AnswersAsASetDoes) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  LeftContexts left;
  std::set<std::uint64_t> expected;
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t number = 1 + random() % 64;
    if (random() % 2 == 0) {
      if (expected.insert(number).second) left.add(context(number));
    } else {
      ASSERT_EQ(left.take(context(number)), expected.erase(number) != 0) << "step " << i;
    }
    ASSERT_EQ(left.any(), !expected.empty());
    std::size_t runs = 0;
    for (const std::uint64_t one : expected) runs += expected.count(one - 1) == 0 ? 1 : 0;
    ASSERT_EQ(left.runs(), runs) << "step " << i;
  }
}

TEST(LeftContexts, KeepOneRunOfWhatIsFreedInAnyOrder) {
  std::vector<std::uint64_t> numbers(4096);
  std::iota(numbers.begin(), numbers.end(), 1);
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::shuffle(numbers.begin(), numbers.end(), std::mt19937(seed));
  LeftContexts left;
  for (const std::uint64_t number : numbers) left.add(context(number));
  EXPECT_EQ(left.runs(), 1U);
}

}  // namespace
}  // namespace heddle::ft
