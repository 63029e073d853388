#include "mpi/coll/nodes.hpp"

#include <algorithm>
#include <unordered_map>

namespace heddle::coll {

// So far node_of holds arbitrary numbers of the nodes.
void Nodes::number(int rank) {
  std::unordered_map<int, int> numbers;
  for (std::size_t r = 0; r < node_of.size(); ++r) {
    const auto [known, is_new] = numbers.try_emplace(node_of[r], static_cast<int>(leaders.size()));
    if (is_new) leaders.push_back(static_cast<int>(r));
    node_of[r] = known->second;
  }
  here = node_of[static_cast<std::size_t>(rank)];
  for (std::size_t r = 0; r < node_of.size(); ++r) {
    if (static_cast<int>(r) == rank) place = static_cast<int>(local.size());
    if (node_of[r] == here) local.push_back(static_cast<int>(r));
  }
  consecutive = std::is_sorted(node_of.begin(), node_of.end());
}

}  // namespace heddle::coll
