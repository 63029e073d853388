// MPI_Dims_create against all factorizations: random numbers of processes, of dimensions, and of those that are given.
#include <algorithm>
#include <iterator>
#include <vector>

#include "mpi/check.hpp"

namespace {

using test::check;
using test::equal;

// The smallest difference of the largest and the smallest of `left` numbers with product n, none above `last`.
int closest(int n, int left, int first, int last) {
  if (left == 0) return n == 1 ? first - last : -1;
  int best = -1;
  for (int d = 1; d <= std::min(n, last); ++d) {
    if (n % d != 0) continue;
    const int found = closest(n / d, left - 1, first == 0 ? d : first, d);
    if (found >= 0 && (best < 0 || found < best)) best = found;
  }
  return best;
}

// Numbers with many factors, which have the most to choose from.
int smooth(std::mt19937& random) {
  constexpr int primes[] = {2, 2, 2, 3, 3, 5, 7, 11, 13};
  int n = 1;
  for (;;) {
    const int next = n * primes[random() % std::size(primes)];
    if (next > 30000) return n;
    n = next;
  }
}

void one(std::mt19937& random) {
  const int ndims = 1 + static_cast<int>(random() % 6);
  std::vector<int> dims(static_cast<std::size_t>(ndims), 0);
  int fixed = 1;
  for (int& d : dims) {
    if (random() % 3 != 0) continue;
    d = 1 + static_cast<int>(random() % 4);
    fixed *= d;
  }
  const auto given = dims;
  const auto free = static_cast<int>(std::count(dims.begin(), dims.end(), 0));
  const int rest = free == 0 ? 1 : random() % 2 == 0 ? smooth(random) : 1 + static_cast<int>(random() % 4000);
  equal(MPI_Dims_create(fixed * rest, ndims, dims.data()), MPI_SUCCESS, "Dims_create");
  std::vector<int> made;
  int product = 1;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (given[i] != 0) {
      equal(dims[i], given[i], "a dimension that is given");
    } else {
      made.push_back(dims[i]);
      product *= dims[i];
    }
  }
  equal(product, rest, "the product");
  check(std::is_sorted(made.rbegin(), made.rend()), "in falling order");
  if (free > 0) equal(made.front() - made.back(), closest(rest, free, 0, rest), "as close as possible");
}

}  // namespace

int main(int argc, char** argv) {
  const test::Session session(&argc, &argv);
  std::mt19937 random(test::seed(argc, argv));
  for (int i = 0; i < 2000; ++i) one(random);
}
