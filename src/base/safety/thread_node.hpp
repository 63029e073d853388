// Nodes that a thread keeps for the locks that it uses.
//
// For most queue locks a node on the stack is enough. Those whose cells move between threads (CLH and locks built from
// it) take a cell from the lock when a node is first used and give it back when the node ends, which is meant to happen
// once a thread and lock, not once an acquisition. Not so where there are user-level threads: one that waits for a lock
// is suspended, and another of the same kernel thread may wait too, so each acquisition has a node of its own.
#pragma once

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/platform/thread_end.hpp"
#include "base/threads/thread_ref.hpp"

namespace heddle::safety {

template <class Node>
class KeptNode {
 public:
  explicit KeptNode(const void* lock) : node_(threads::user_level_possible() ? fresh_.emplace() : of(lock)) {}
  Node& operator*() const { return node_; }

 private:
  static Node& of(const void* lock) {
    struct Kept {
      std::vector<std::pair<const void*, std::unique_ptr<Node>>> nodes;
    };
    auto& kept = platform::OfThread<Kept>::get().nodes;
    for (const auto& [whose, node] : kept)
      if (whose == lock) return *node;
    kept.emplace_back(lock, std::make_unique<Node>());
    return *kept.back().second;
  }

  std::optional<Node> fresh_;
  Node& node_;
};

template <class Node>
class FreshNode {
 public:
  explicit FreshNode(const void*) {}
  Node& operator*() { return node_; }

 private:
  Node node_;
};

// A node for one acquisition of `lock`.
template <class Node>
using NodeFor = std::conditional_t<std::is_trivially_destructible_v<Node>, FreshNode<Node>, KeptNode<Node>>;

}  // namespace heddle::safety
