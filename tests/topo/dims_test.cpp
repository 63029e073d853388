// Balanced factors against all factorizations.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "topo/dims.hpp"

namespace heddle {
namespace {

// Calls f with every falling sequence of `left` factors, none above `limit`, whose product is n.
template <class F>
void for_each_factorization(int n, int left, int limit, std::vector<int>& chosen, F&& f) {
  if (left == 0) {
    if (n == 1) f(chosen);
    return;
  }
  for (int d = 1; d <= std::min(n, limit); ++d) {
    if (n % d != 0) continue;
    chosen.push_back(d);
    for_each_factorization(n / d, left - 1, d, chosen, f);
    chosen.pop_back();
  }
}

// The closest of all; of several the lexicographically smallest.
std::vector<int> best(int n, int factors) {
  std::vector<int> best, chosen;
  const auto key = [](const std::vector<int>& s) { return std::pair(s.front() - s.back(), s); };
  for_each_factorization(n, factors, n, chosen, [&](const std::vector<int>& s) {
    if (best.empty() || key(s) < key(best)) best = s;
  });
  return best;
}

TEST(BalancedFactors, AreTheClosestOfAll) {
  for (int n = 1; n <= 5000; ++n) {
    for (int factors = 1; factors <= 6; ++factors) ASSERT_EQ(balanced_factors(n, factors), best(n, factors)) << n;
  }
}

// Where the sequence with the smallest largest factor is not the closest.
TEST(BalancedFactors, AreCloseAtBothEnds) {
  EXPECT_EQ(balanced_factors(4620, 3), (std::vector<int>{22, 15, 14}));
  EXPECT_EQ(balanced_factors(3600, 4), (std::vector<int>{10, 10, 6, 6}));
  EXPECT_EQ(balanced_factors(21600, 5), (std::vector<int>{10, 10, 6, 6, 6}));
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
