// The plan of a collective access, made by all members alike from their parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mpi/io/independent.hpp"
#include "objects/object/comm.hpp"

namespace heddle::io {

// A member's part.
struct Part {
  std::int64_t first = 0;  // byte of the file that it touches
  std::int64_t end = 0;    // behind the last one
  std::int64_t bytes = 0;  // 0: none
  std::int64_t runs = 0;   // about so many
  // Member 0's value counts.
  std::int64_t buffer_size = 0;
  std::int64_t unit = 0;
  std::int32_t nodes = 0;
  std::int32_t per_node = 0;
  Choice choice = Choice::automatic;
  bool alone = false;  // its view is not in order, or the file in atomic mode

  bool touches(std::int64_t from, std::int64_t to) const { return bytes > 0 && first < to && end > from; }
};

Part describe(const Access& access);

// The part of the file that one aggregator handles at a time.
struct Window {
  std::int64_t first = 0;
  std::int64_t end = 0;  // first: nothing
};

class Plan {
 public:
  // May throw std::bad_alloc.
  Plan(Comm& comm, std::span<const Part> parts);

  bool is_two_phase() const { return !aggregators_.empty(); }
  std::span<const int> aggregators() const { return aggregators_; }
  std::int64_t window_bytes() const { return window_bytes_; }
  std::int64_t rounds() const { return rounds_; }
  // The window of an aggregator, by its index. Windows ascend within a round, and from round to round.
  Window window(std::int64_t round, std::size_t aggregator) const;

 private:
  // A part of the file that members access, or between their accesses, and its first window.
  struct Stretch {
    std::int64_t first;
    std::int64_t end;
    std::int64_t window;
  };
  void lay_out(std::span<const Part> parts);

  std::vector<int> aggregators_;
  std::vector<Stretch> stretches_;
  std::int64_t window_bytes_ = 0;
  std::int64_t rounds_ = 0;
};

}  // namespace heddle::io
