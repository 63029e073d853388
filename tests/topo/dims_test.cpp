// Balanced factors against all factorizations.
#include <gtest/gtest.h>

#include <functional>
#include <numeric>

#include "topo/dims.hpp"

namespace heddle {
namespace {

// The lexicographically smallest falling sequence, found by trying everything.
std::vector<int> best(int n, int factors, int limit) {
  if (factors == 1) return n <= limit ? std::vector<int>{n} : std::vector<int>{};
  for (int d = 1; d <= limit; ++d) {
    if (n % d != 0) continue;
    std::vector<int> rest = best(n / d, factors - 1, d);
    if (rest.empty()) continue;
    rest.insert(rest.begin(), d);
    return rest;
  }
  return {};
}

TEST(BalancedFactors, AreTheBestOfAll) {
  for (int n = 1; n <= 300; ++n) {
    for (int factors = 1; factors <= 4; ++factors) EXPECT_EQ(balanced_factors(n, factors), best(n, factors, n));
  }
}

TEST(BalancedFactors, OfLargeNumbersComeSoon) {
  for (const int n : {2147483647, 2147483646, 1 << 30, 720720, 2095133040}) {
    for (const int factors : {1, 2, 3, 7, 12}) {
      const std::vector<int> found = balanced_factors(n, factors);
      ASSERT_EQ(found.size(), static_cast<std::size_t>(factors));
      EXPECT_EQ(std::accumulate(found.begin(), found.end(), 1LL, std::multiplies<>()), n);
      EXPECT_TRUE(std::is_sorted(found.rbegin(), found.rend()));
    }
  }
}

}  // namespace
}  // namespace heddle
