// Balanced grids (MPI 5.0, section 8.5.2).
#pragma once

#include <vector>

namespace heddle {

// `factors` numbers in falling order whose product is n, as close to each other as possible: the difference of the
// largest and the smallest is minimal. It is the one of several such sequences with the largest smallest factor, then
// the largest second smallest one, and so on: 21 * 16 * 15, not 20 * 18 * 14, as MPICH has it. n and `factors` are
// positive.
std::vector<int> balanced_factors(int n, int factors);

}  // namespace heddle
