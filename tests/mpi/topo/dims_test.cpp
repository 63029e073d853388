// Balanced factors against all factorizations.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "mpi/topo/dims.hpp"

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

// The closest of all; of several the one whose smallest factor is the largest, then the second smallest, and so on.
std::vector<int> best(int n, int factors) {
  std::vector<int> best, chosen;
  const auto better = [](const std::vector<int>& a, const std::vector<int>& b) {
    const int difference = (a.front() - a.back()) - (b.front() - b.back());
    if (difference != 0) return difference < 0;
    return std::lexicographical_compare(b.rbegin(), b.rend(), a.rbegin(), a.rend());
  };
  for_each_factorization(n, factors, n, chosen, [&](const std::vector<int>& s) {
    if (best.empty() || better(s, best)) best = s;
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

// Several factorizations have the same difference; these are the answers that MPICH gives.
TEST(BalancedFactors, OfEqualDifferencesHaveTheLargestSmallFactors) {
  EXPECT_EQ(balanced_factors(5040, 3), (std::vector<int>{21, 16, 15}));        // not 20, 18, 14
  EXPECT_EQ(balanced_factors(98784, 5), (std::vector<int>{14, 14, 9, 8, 7}));  // not 14, 12, 12, 7, 7
  EXPECT_EQ(balanced_factors(590520, 4), (std::vector<int>{38, 37, 21, 20}));
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
