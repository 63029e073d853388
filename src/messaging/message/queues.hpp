// Queues by envelope: a hash table whose entries are queues. A queue has all nodes with one context, source and tag, in order.
//
// A node carries its links (`next`, `prev`, `next_queue`), so only a larger table needs memory. Without memory the table keeps its size.
// The table points to the oldest node of each queue only: a search compares one node of each unrelated queue in its bucket, however long
// that queue is. A wildcard is a value like any other here: receives with MPI_ANY_TAG have a queue of their own.
//
// Invariants: `prev` of the oldest node is the newest node, `prev` of any other node is the one before it. The newest node has no `next`.
// `next_queue` links the oldest nodes of a bucket; it has no meaning in other nodes. There are at most as many queues as buckets, unless
// memory is short. With the VNI lock held.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>

#include "messaging/message/envelope.hpp"

namespace heddle::message {

// envelope_of(node) returns a node's envelope, which does not change while the node is in a queue.
template <class Node>
class Queues {
 public:
  Queues() = default;
  Queues(const Queues&) = delete;
  Queues& operator=(const Queues&) = delete;

  // The link to the oldest node of a queue, or the null link where it would be inserted. Valid until a node is added or removed.
  [[gnu::always_inline]] Node** find(Hash hash, const Envelope& e) {
    Node** at = &buckets_[hash & mask_];
    while (*at != nullptr && !(envelope_of(**at) == e)) at = &(*at)->next_queue;
    return at;
  }
  Node** find(const Envelope& e) { return find(hash_of(e), e); }
  Node** find(const Node& node) { return find(envelope_of(node)); }

  [[gnu::always_inline]] void append(Node** at, Node& node) { append(at, node, node); }
  // Appends several nodes with one envelope. `next` links them, and `prev` links all but the first.
  [[gnu::always_inline]] void append(Node** at, Node& first, Node& last) {
    Node* const oldest = *at;
    last.next = nullptr;
    if (oldest != nullptr) {
      first.prev = std::exchange(oldest->prev, &last);
      first.prev->next = &first;
      return;
    }
    first.prev = &last;
    first.next_queue = nullptr;
    *at = &first;
    if (--room_ < 0) [[unlikely]]
      grow();
  }
  void prepend(Node** at, Node& node) {
    Node* const oldest = *at;
    if (oldest == nullptr) return append(at, node);
    node.next = oldest;
    node.prev = std::exchange(oldest->prev, &node);
    node.next_queue = oldest->next_queue;
    *at = &node;
  }

  [[gnu::always_inline]] Node* take_oldest(Node** at) {
    Node* const oldest = *at;
    if (Node* const next = oldest->next; next != nullptr) {
      next->prev = oldest->prev;
      next->next_queue = oldest->next_queue;
      *at = next;
    } else {
      *at = oldest->next_queue;
      ++room_;
    }
    return oldest;
  }
  // With the queue's link, or after a search for it.
  void remove(Node** at, Node& node) {
    if (*at == &node) {
      (void)take_oldest(at);
    } else {
      node.prev->next = node.next;
      (node.next != nullptr ? node.next : *at)->prev = node.prev;
    }
  }
  void remove(Hash hash, Node& node) {
    if (is_oldest(node)) return remove_oldest(hash, node);
    remove(find(hash, envelope_of(node)), node);
  }
  static bool is_oldest(const Node& node) { return node.prev->next == nullptr; }
  [[gnu::always_inline]] void remove_oldest(Hash hash, Node& node) {
    Node** at = &buckets_[hash & mask_];
    while (*at != &node) at = &(*at)->next_queue;
    (void)take_oldest(at);
  }

  // Removes the nodes for which goes(node) is true, and then calls gone(node).
  template <class Goes, class Gone>
  void sift(Goes&& goes, Gone&& gone) {
    for (std::size_t bucket = 0; bucket != size(); ++bucket) {
      Node** at = &buckets_[bucket];
      while (*at != nullptr) {
        bool any_left = false;
        Node* next = nullptr;
        for (Node* node = *at; node != nullptr; node = next) {
          next = node->next;
          if (goes(*node)) {
            remove(at, *node);
            gone(*node);
          } else {
            any_left = true;
          }
        }
        if (any_left) at = &(*at)->next_queue;
      }
    }
  }

 private:
  static constexpr std::size_t first_size = 64;

  std::size_t size() const { return std::size_t{mask_} + 1; }

  [[gnu::cold, gnu::noinline]] void grow() {
    // Without memory the next attempt follows after as many more queues.
    room_ += static_cast<std::ptrdiff_t>(size());
    const Hash mask = 2 * mask_ + 1;
    std::unique_ptr<Node*[]> larger(new (std::nothrow) Node*[2 * size()]());
    if (!larger) return;
    for (std::size_t bucket = 0; bucket != size(); ++bucket) {
      for (Node *node = buckets_[bucket], *next = nullptr; node != nullptr; node = next) {
        next = node->next_queue;
        Node*& head = larger[hash_of(envelope_of(*node)) & mask];
        node->next_queue = std::exchange(head, node);
      }
    }
    mask_ = mask;
    larger_ = std::move(larger);
    buckets_ = larger_.get();
  }

  Node** buckets_ = first_;
  Hash mask_ = first_size - 1;
  std::ptrdiff_t room_ = first_size;  // number of queues that can be added before the table grows
  std::unique_ptr<Node*[]> larger_;
  Node* first_[first_size] = {};
};

}  // namespace heddle::message
