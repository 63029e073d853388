// The compiled form of a datatype: made by commit, run by pack, unpack, copy and segments.
//
// A program is a small tree over flat tables. Leaves are runs of bytes in the arrangements that occur in practice;
// inner nodes repeat a node or put different ones in sequence. Runs that touch are one run, arrangements that continue
// are one arrangement, so a type has the same program however it was nested. Displacements are relative to the node
// above, so a node can be shared.
//
// Every node knows how many bytes of the packed stream it makes, and tables carry running totals: to find a byte of the
// stream is a division at a repetition and a binary search at a table.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heddle::datatype {

enum class Shape : std::uint8_t {
  run,       // `length` bytes
  vector,    // `count` runs of `length` bytes, `stride` apart
  block,     // `count` runs of `length` bytes, the displacements of which are offsets[table ..]
  indexed,   // `count` runs: entries[table ..], and one entry more that ends the last
  loop,      // `count` times nodes[table], `stride` apart
  sequence,  // `count` nodes: entries[table ..]
};

struct Node {
  Shape shape = Shape::run;
  std::uint32_t table = 0;
  std::size_t size = 0;  // bytes of packed stream
  std::size_t length = 0;
  std::int64_t count = 0;
  std::int64_t stride = 0;

  friend bool operator==(const Node&, const Node&) = default;
};

struct Entry {
  std::int64_t disp;
  std::size_t start;   // where it begins in the node's packed stream
  std::uint32_t node;  // sequence only
};

struct Program {
  const Node* nodes = nullptr;
  const Entry* entries = nullptr;
  const std::int64_t* offsets = nullptr;
  std::uint32_t root = 0;  // nodes[root] is one element of the datatype,
  std::int64_t disp = 0;   // this far from its buffer
  std::size_t runs = 1;    // contiguous runs in one element, as far as they are known to be separate
};

// `count` times a node that stands at nodes[index], `stride` bytes apart.
constexpr Node repeat(const Node& node, std::uint32_t index, std::int64_t count, std::int64_t stride) {
  const std::size_t size = node.size * static_cast<std::size_t>(count);
  if (count == 1) return node;
  if (node.shape == Shape::run) {
    if (stride == static_cast<std::int64_t>(node.length)) return {Shape::run, 0, size, size, 0, 0};
    return {Shape::vector, 0, size, node.length, count, stride};
  }
  const bool continues =
      (node.shape == Shape::vector || node.shape == Shape::loop) && stride == node.count * node.stride;
  if (continues) return {node.shape, node.table, size, node.length, node.count * count, node.stride};
  return {Shape::loop, index, size, 0, count, stride};
}

}  // namespace heddle::datatype
