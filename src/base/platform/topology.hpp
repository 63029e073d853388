// The machine for hierarchical algorithms, as data: the sharing of resources between processors.
//
// Level 0 is the finest. On every level processors are grouped into domains, numbered from 0; a domain of one level
// lies inside one domain of the next. The whole machine above the last level is not listed. base/platform/machine.hpp reads
// this from the machine; tests make it up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace heddle::platform {

class Topology {
 public:
  using Level = std::vector<std::uint32_t>;  // the domain of each processor

  // No locality: one domain on every level.
  Topology() = default;
  explicit Topology(std::vector<Level> levels) : levels_(std::move(levels)) {}

  // Levels beyond those that are known group everything into one domain, as do processors beyond those known.
  std::uint32_t domain(std::size_t level, std::size_t processor) const {
    if (level >= levels_.size() || processor >= levels_[level].size()) return 0;
    return levels_[level][processor];
  }
  std::uint32_t domains(std::size_t level) const {
    std::uint32_t count = 1;
    for (std::size_t p = 0; p != processors(); ++p) count = domain(level, p) >= count ? domain(level, p) + 1 : count;
    return count;
  }
  std::size_t processors() const { return levels_.empty() ? 0 : levels_.front().size(); }
  std::size_t levels() const { return levels_.size(); }

 private:
  std::vector<Level> levels_;
};

}  // namespace heddle::platform
