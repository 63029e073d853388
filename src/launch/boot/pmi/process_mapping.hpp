// PMI_process_mapping, by which a launcher that uses PMI describes which ranks share a node:
// "(vector,(0,2,4),(2,1,3))", blocks of the first node, number of nodes, and number of ranks on each, which are
// repeated until every rank has a node.
#pragma once

#include <array>
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

namespace heddle::boot {

// The ranks on the node of `rank`, itself too. Empty: malformed text.
inline std::vector<int> ranks_beside(const std::string& text, int rank, int size) {
  std::vector<std::array<int, 3>> blocks;
  const char* at = text.c_str();
  int used = 0;
  if (std::sscanf(at, "(vector%n", &used) != 0 || used == 0) return {};
  at += used;
  for (std::array<int, 3> b; std::sscanf(at, ",(%d,%d,%d)%n", b.data(), &b[1], &b[2], &used) == 3; at += used) {
    if (b[1] < 1 || b[2] < 1) return {};
    blocks.push_back(b);
  }
  if (blocks.empty() || *at != ')') return {};
  std::vector<long> nodes;
  const auto all = static_cast<std::size_t>(size);
  while (nodes.size() < all)
    for (const auto& [first, count, each] : blocks)
      for (int node = 0; node < count && nodes.size() < all; ++node)
        for (int i = 0; i < each && nodes.size() < all; ++i) nodes.push_back(long{first} + node);
  std::vector<int> beside;
  for (int other = 0; other < size; ++other)
    if (nodes[static_cast<std::size_t>(other)] == nodes[static_cast<std::size_t>(rank)]) beside.push_back(other);
  return beside;
}

}  // namespace heddle::boot
