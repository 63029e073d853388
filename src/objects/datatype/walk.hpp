// Visits a window of the packed stream of a program, in stream order.
//
// A sink is told of runs and of whole arrangements of runs, as Mover (kernels.hpp) shows; each of its functions
// returns whether to go on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "objects/datatype/program.hpp"

namespace heddle::datatype {

template <class Sink>
class Walk {
 public:
  Walk(const Program& program, Sink& sink) : program_(program), sink_(sink) {}

  // All of a node's stream.
  bool whole(const Node& node, std::uintptr_t at) {
    switch (node.shape) {
      case Shape::run:
        return sink_.run(at, node.length);
      case Shape::vector:
        return sink_.grid(at, node.length, node.count, node.stride, 1, 0);
      case Shape::block:
        return sink_.blocks(at, node.length, node.count, program_.offsets + node.table);
      case Shape::indexed:
        return sink_.entries(at, node.count, program_.entries + node.table);
      case Shape::loop:
        return repeat_whole(node, at, 0, node.count);
      case Shape::sequence:
        return entries_whole(program_.entries + node.table, node.count, at);
    }
    return false;
  }

  // Bytes [skip, skip + n) of a node's stream; 0 < n, and the window must lie within it.
  bool window(const Node& node, std::uintptr_t at, std::size_t skip, std::size_t n) {
    if (skip == 0 && n == node.size) return whole(node, at);
    switch (node.shape) {
      case Shape::run:
        return sink_.run(at + skip, n);
      case Shape::vector:
        return pieces(
            node.length, skip, n,
            [&](std::int64_t i, std::size_t from, std::size_t m) {
              return sink_.run(step(at, i * node.stride) + from, m);
            },
            [&](std::int64_t i, std::int64_t count) {
              return sink_.grid(step(at, i * node.stride), node.length, count, node.stride, 1, 0);
            });
      case Shape::block: {
        const std::int64_t* offsets = program_.offsets + node.table;
        return pieces(
            node.length, skip, n,
            [&](std::int64_t i, std::size_t from, std::size_t m) { return sink_.run(step(at, offsets[i]) + from, m); },
            [&](std::int64_t i, std::int64_t count) { return sink_.blocks(at, node.length, count, offsets + i); });
      }
      case Shape::loop: {
        const Node& child = program_.nodes[node.table];
        return pieces(
            child.size, skip, n,
            [&](std::int64_t i, std::size_t from, std::size_t m) {
              return window(child, step(at, i * node.stride), from, m);
            },
            [&](std::int64_t i, std::int64_t count) { return repeat_whole(node, at, i, count); });
      }
      case Shape::indexed:
        return entries_window(
            node, skip, n,
            [&](const Entry& e, std::size_t from, std::size_t m) { return sink_.run(step(at, e.disp) + from, m); },
            [&](const Entry* first, std::int64_t count) { return sink_.entries(at, count, first); });
      case Shape::sequence:
        return entries_window(
            node, skip, n,
            [&](const Entry& e, std::size_t from, std::size_t m) {
              return window(program_.nodes[e.node], step(at, e.disp), from, m);
            },
            [&](const Entry* first, std::int64_t count) { return entries_whole(first, count, at); });
    }
    return false;
  }

 private:
  static std::uintptr_t step(std::uintptr_t at, std::int64_t by) { return at + static_cast<std::uintptr_t>(by); }

  bool repeat_whole(const Node& loop, std::uintptr_t at, std::int64_t first, std::int64_t count) {
    const Node& child = program_.nodes[loop.table];
    at = step(at, first * loop.stride);
    if (child.shape == Shape::vector) {
      return sink_.grid(at, child.length, child.count, child.stride, count, loop.stride);
    }
    for (std::int64_t i = 0; i < count; ++i, at = step(at, loop.stride)) {
      if (!whole(child, at)) return false;
    }
    return true;
  }

  bool entries_whole(const Entry* entry, std::int64_t count, std::uintptr_t at) {
    for (std::int64_t i = 0; i < count; ++i, ++entry) {
      if (!whole(program_.nodes[entry->node], step(at, entry->disp))) return false;
    }
    return true;
  }

  // A window over pieces of equal length: the end of one, whole ones, the beginning of one.
  template <class Partial, class Whole>
  static bool pieces(std::size_t length, std::size_t skip, std::size_t n, Partial&& partial, Whole&& all) {
    auto i = static_cast<std::int64_t>(skip / length);
    const std::size_t from = skip % length;
    if (from != 0) {
      const std::size_t m = std::min(length - from, n);
      if (!partial(i, from, m)) return false;
      n -= m;
      ++i;
    }
    const auto count = static_cast<std::int64_t>(n / length);
    if (count != 0 && !all(i, count)) return false;
    n %= length;
    return n == 0 || partial(i + count, 0, n);
  }

  // The same over the entries of a table.
  template <class Partial, class Whole>
  bool entries_window(const Node& node, std::size_t skip, std::size_t n, Partial&& partial, Whole&& all) {
    const Entry* begin = program_.entries + node.table;
    const Entry* end = begin + node.count;  // *end ends the last one
    const auto starts_after = [](std::size_t position, const Entry& e) { return position < e.start; };
    const Entry* entry = std::upper_bound(begin, end, skip, starts_after) - 1;
    if (skip != entry->start) {
      const std::size_t from = skip - entry->start;
      const std::size_t m = std::min(entry[1].start - skip, n);
      if (!partial(*entry, from, m)) return false;
      n -= m;
      if (n == 0) return true;
      skip += m;
      ++entry;
    }
    const Entry* last = std::upper_bound(entry, end + 1, skip + n, starts_after) - 1;
    if (last != entry) {
      if (!all(entry, last - entry)) return false;
      n -= last->start - skip;
    }
    return n == 0 || partial(*last, 0, n);
  }

  const Program& program_;
  Sink& sink_;
};

}  // namespace heddle::datatype
