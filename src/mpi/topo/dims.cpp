#include "mpi/topo/dims.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "objects/binding/impl.hpp"

namespace heddle {

namespace {

std::vector<int> divisors_of(int n) {
  std::vector<int> small, large;
  for (std::int64_t d = 1; d * d <= n; ++d) {
    if (n % d != 0) continue;
    small.push_back(static_cast<int>(d));
    if (d != n / d) large.push_back(static_cast<int>(n / d));
  }
  small.insert(small.end(), large.rbegin(), large.rend());
  return small;
}

std::int64_t power(int base, int exponent, std::int64_t cap) {
  std::int64_t result = 1;
  for (int i = 0; i < exponent && result < cap; ++i) result *= base;
  return result;
}

// The largest number whose power is at most n.
int root(int n, int exponent) {
  int low = 1, high = n;
  while (low < high) {
    const int middle = low + (high - low + 1) / 2;
    if (power(middle, exponent, std::int64_t{n} + 1) <= n) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

// Finds a rising sequence of `left` divisors, each from `least` to `limit`, with product n: the one with the largest
// first number, then the largest second one, and so on.
bool choose(const std::vector<int>& divisors, int n, int left, int least, int limit, std::vector<int>& chosen) {
  if (left == 0) return n == 1;
  if (power(limit, left, n) < n) return false;
  auto d = std::upper_bound(divisors.begin(), divisors.end(), std::min(limit, root(n, left)));
  while (d != divisors.begin() && *--d >= least) {
    if (n % *d != 0) continue;
    chosen.push_back(*d);
    if (choose(divisors, n / *d, left - 1, *d, limit, chosen)) return true;
    chosen.pop_back();
  }
  return false;
}

}  // namespace

// The closest pair of a largest and a smallest factor that a factorization has, and the largest one of equally close
// pairs: that is found last. With a larger largest factor the smallest can only be smaller, so the search ends where
// the bound on it is too far away.
std::vector<int> balanced_factors(int n, int factors) {
  if (factors == 1) return {n};
  const std::vector<int> divisors = divisors_of(n);
  std::vector<int> best;  // rising
  for (const int largest : divisors) {
    if (power(largest, factors, n) < n) continue;
    const int rest = n / largest;
    const int bound = std::min(largest, root(rest, factors - 1));
    const auto as_close = [&](int least) { return best.empty() || largest - least <= best.back() - best.front(); };
    if (!as_close(bound)) break;
    auto least = std::upper_bound(divisors.begin(), divisors.end(), bound);
    while (least != divisors.begin() && as_close(*--least)) {
      std::vector<int> found{*least};
      if (rest % *least != 0 || !choose(divisors, rest / *least, factors - 2, *least, largest, found)) continue;
      found.push_back(largest);
      best = std::move(found);
      break;
    }
  }
  return {best.rbegin(), best.rend()};
}

namespace mpi {

Error Dims_create(int nnodes, int ndims, int dims[]) {
  if (nnodes < 1) return fail(MPI_ERR_ARG, "nnodes is %d", nnodes);
  long long fixed = 1;
  int free = 0;
  for (int d = 0; d < ndims; ++d) {
    if (dims[d] < 0) return fail(MPI_ERR_DIMS, "dims[%d] is %d", d, dims[d]);
    if (dims[d] == 0) {
      ++free;
    } else if (fixed <= nnodes) {
      fixed *= dims[d];
    }
  }
  if (nnodes % fixed != 0 || (free == 0 && fixed != nnodes && ndims > 0))
    return fail(MPI_ERR_DIMS, "nnodes is %d, which the fixed dimensions do not divide", nnodes);
  if (free == 0) return success;
  const std::vector<int> factors = balanced_factors(static_cast<int>(nnodes / fixed), free);
  auto next = factors.begin();
  for (int d = 0; d < ndims; ++d) {
    if (dims[d] == 0) dims[d] = *next++;
  }
  return success;
}

}  // namespace mpi
}  // namespace heddle
