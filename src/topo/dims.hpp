// Balanced grids (MPI 5.0, section 8.5.2).
#pragma once

#include <vector>

namespace heddle {

// `factors` numbers in falling order whose product is n, as close to each other as possible: the difference of the largest
// and the smallest is as small as it can be, then the largest, and then the second, and so on. n and `factors` are positive.
std::vector<int> balanced_factors(int n, int factors);

}  // namespace heddle
