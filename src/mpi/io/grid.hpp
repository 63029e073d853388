// Runs of a file in few numbers: most are a pattern.
#pragma once

#include <cstdint>
#include <vector>

#include "mpi/io/view.hpp"

namespace heddle::io {

// `count` runs of `length` bytes, `stride` apart.
struct Grid {
  std::int64_t offset;
  std::int64_t length;
  std::int64_t stride;
  std::int64_t count;
};

class Grids {
 public:
  // Each begins where the one before ends, or behind that.
  void add(const Run& run) {
    bytes_ += run.length;
    const auto length = static_cast<std::int64_t>(run.length);
    if (!grids_.empty()) {
      Grid& last = grids_.back();
      const std::int64_t distance = run.offset - last.offset;
      if (last.count == 1 && distance == last.length) {
        last.length += length;
        return;
      }
      if (last.length == length && (last.count == 1 || distance == last.count * last.stride)) {
        if (last.count == 1) last.stride = distance;
        ++last.count;
        return;
      }
    }
    grids_.push_back({run.offset, length, 0, 1});
  }
  void clear() {
    grids_.clear();
    bytes_ = 0;
  }
  const std::vector<Grid>& list() const { return grids_; }
  std::size_t bytes() const { return bytes_; }

 private:
  std::vector<Grid> grids_;
  std::size_t bytes_ = 0;
};

// Calls f(run) for each.
template <class List, class F>
void for_each_run(const List& grids, F&& f) {
  for (const Grid& grid : grids)
    for (std::int64_t i = 0; i < grid.count; ++i)
      f(Run{grid.offset + i * grid.stride, static_cast<std::size_t>(grid.length)});
}

}  // namespace heddle::io
