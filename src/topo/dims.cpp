#include "topo/dims.hpp"

#include <algorithm>
#include <cstdint>

#include "binding/impl.hpp"

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

bool reaches(int base, int exponent, int n) {
  std::int64_t power = 1;
  for (int i = 0; i < exponent && power < n; ++i) power *= base;
  return power >= n;
}

// Finds the lexicographically smallest falling sequence of `left` divisors, none above `limit`, with product n.
bool choose(const std::vector<int>& divisors, int n, int left, int limit, std::vector<int>& chosen) {
  if (left == 0) return n == 1;
  for (const int d : divisors) {
    if (d > limit) return false;
    if (n % d != 0 || !reaches(d, left, n)) continue;
    chosen.push_back(d);
    if (choose(divisors, n / d, left - 1, d, chosen)) return true;
    chosen.pop_back();
  }
  return false;
}

}  // namespace

std::vector<int> balanced_factors(int n, int factors) {
  std::vector<int> chosen;
  choose(divisors_of(n), n, factors, n, chosen);
  return chosen;
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
    return fail(MPI_ERR_DIMS, "nnodes is %d, which the fixed dimensions cannot give", nnodes);
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
