#include "mpi/tool/figures.hpp"

namespace heddle::tool {

using instruments::Totals;

std::uint64_t time_in_library(const Totals& vni) {
  std::uint64_t sum = 0;
  for (const std::uint64_t ticks : vni.ticks) sum += ticks;
  return sum;
}

}  // namespace heddle::tool
