// The outbox of a VNI: what can't be sent now, or shall be arranged, waits here by peer until the network takes it.
//
// Under the VNI's protection, but for what says otherwise. Only peers that something waits for cost anything.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "message/outbox/strategy.hpp"
#include "platform/zeroed_array.hpp"

namespace heddle::message {

class Outbox {
 public:
  Outbox(int peers, std::unique_ptr<Strategy> strategy)
      : queues_(static_cast<std::size_t>(peers)), strategy_(std::move(strategy)) {}
  ~Outbox();
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  // Any thread: whether later messages to this peer have to wait behind others; whether anything waits.
  bool must_wait(int peer) const { return !queues_[static_cast<std::size_t>(peer)].items.empty(); }
  bool any() const { return size_.load(std::memory_order_relaxed) != 0; }

  // The next make() needs no memory. Throws std::bad_alloc.
  void reserve();
  // Throws std::bad_alloc.
  OutboxItem& make();
  // Whether it is the first for this peer: a thread that sleeps has not asked for room.
  bool append(int peer, OutboxItem& item);
  // Whether this send waited here.
  bool remove(const Request& send);

  // Other work that is left behind until the network takes it (message/streams.hpp) counts as what waits here.
  void begin_other() { size_.fetch_add(1, std::memory_order_relaxed); }
  void end_others(std::uint32_t n) { size_.fetch_sub(n, std::memory_order_relaxed); }

  // A peer that has failed: drop(item) of all that waits for it, and nothing ever goes to it again, since everybody has to wait. Throws
  // std::bad_alloc, and then nothing has happened.
  template <class F>
  void close(int peer, F&& drop_item) {
    OutboxItem& last = make();
    Queue& queue = queues_[static_cast<std::size_t>(peer)];
    const auto any = [](const OutboxItem&) { return true; };
    while (OutboxItem* const item = queue.items.remove(any)) {
      size_.fetch_sub(1, std::memory_order_relaxed);
      drop_item(*item);
      drop(*item);
    }
    for (Queue** link = &waiting_; *link != nullptr; link = &(*link)->next) {
      if (*link != &queue) continue;
      *link = queue.next;
      queue.listed = false;
      break;
    }
    (void)queue.items.append(last);
    queue.closed = true;
  }
  bool is_closed(int peer) const { return queues_[static_cast<std::size_t>(peer)].closed; }
  // Drops what keep(item) says no of.
  template <class F>
  void sift(F&& keep) {
    for (Queue* queue = waiting_; queue != nullptr; queue = queue->next) {
      while (OutboxItem* const item = queue->items.remove([&](const OutboxItem& one) { return !keep(one); })) {
        size_.fetch_sub(1, std::memory_order_relaxed);
        drop(*item);
      }
    }
  }

  bool collects() const { return strategy_->collects(); }

  // Offers what waits to the network: send_to(peer, send) calls send(Packets&) of that peer. Whether anything has left.
  template <class F>
  bool flush(F&& send_to) {
    std::uint32_t sent = 0;
    for (Queue** link = &waiting_; *link != nullptr;) {
      Queue& queue = **link;
      sent += send_to(queue.peer, [&](Packets& packets) {
        return strategy_->send(queue.items, packets, [this](OutboxItem& item) { drop(item); });
      });
      if (queue.items.empty()) {
        *link = queue.next;
        queue.listed = false;
      } else {
        link = &queue.next;
      }
    }
    size_.fetch_sub(sent, std::memory_order_relaxed);
    return sent != 0;
  }
  template <class F>
  void for_each_peer(F&& f) const {
    for (const Queue* queue = waiting_; queue != nullptr; queue = queue->next)
      if (!queue->items.empty()) f(queue->peer);
  }

 private:
  struct Queue {
    OutboxQueue items;
    Queue* next;  // of those that something waits for
    int peer;
    bool listed;
    bool closed;
  };

  void drop(OutboxItem& item);

  platform::ZeroedArray<Queue> queues_;  // by world rank
  Queue* waiting_ = nullptr;
  std::atomic<std::uint32_t> size_{0};
  OutboxItem* free_ = nullptr;
  std::unique_ptr<Strategy> strategy_;
};

}  // namespace heddle::message
