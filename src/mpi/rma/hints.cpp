#include "mpi/rma/hints.hpp"

#include <algorithm>
#include <iterator>

namespace heddle::rma {

namespace {

constexpr std::string_view keys[] = {
    "no_locks",  "accumulate_ordering", "accumulate_ops",         "mpi_accumulate_granularity",
    "same_size", "same_disp_unit",      "alloc_shared_noncontig", "mpi_assert_memory_alloc_kinds",
};

}  // namespace

InfoEntries known_hints(const Info* info) {
  if (!info) return {};
  InfoEntries hints = info->entries();
  std::erase_if(hints, [](const auto& hint) {
    return std::find(std::begin(keys), std::end(keys), hint.first) == std::end(keys);
  });
  return hints;
}

}  // namespace heddle::rma
