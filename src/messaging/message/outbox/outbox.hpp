// The outbox of a VNI: what can't be sent now, or shall be arranged, waits here by peer until the network takes it.
//
// Under the VNI's protection, but for what says otherwise. Only peers that something waits for cost anything.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/platform/native.hpp"
#include "base/platform/zeroed_array.hpp"
#include "messaging/message/outbox/strategy.hpp"

namespace heddle::message {

class Outbox {
 public:
  Outbox(int peers, std::unique_ptr<Strategy> strategy)
      : peers_(static_cast<std::size_t>(peers)), strategy_(std::move(strategy)) {}
  ~Outbox();
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  // Any thread: whether later messages to this peer have to wait behind others; whether anything waits.
  bool must_wait(int peer) const { return !of(peer).items.empty(); }
  bool any() const { return size_.load(std::memory_order_relaxed) != 0; }

  // Any thread, about to append: fetches what that writes, as far as it is known before the lock is held.
  void fetch_for_append(int peer) const {
    platform::Native::prefetch_for_write(&waiting_);
    platform::Native::prefetch_for_write(&of(peer));
  }

  // The next make() needs no memory. Throws std::bad_alloc.
  void reserve();
  // Throws std::bad_alloc.
  OutboxItem& make();
  // Whether it is the first for this peer: a thread that sleeps has not asked for room.
  bool append(int peer, OutboxItem& item);
  // Whether this send waited here.
  bool remove(const Request& send);

  // A long message goes to this peer from now on, behind those that do already; the first of them has left.
  void append_long(int peer, OutboxLong& one);
  void end_first_long(int peer);
  OutboxLong* first_long(int peer) const { return of(peer).longs.first(); }

  // A peer that has failed: drop(item) of all that waits for it, and nothing ever goes to it again, since everybody has to wait. Throws
  // std::bad_alloc, and then nothing has happened.
  template <class F>
  void close(int peer, F&& drop_item) {
    OutboxItem& last = make();
    OutboxPeer& queue = of(peer);
    const auto any = [](const OutboxItem&) { return true; };
    while (OutboxItem* const item = queue.items.remove(any)) {
      change_size(-1);
      drop_item(*item);
      drop(*item);
    }
    for (OutboxPeer** link = &waiting_; *link != nullptr; link = &(*link)->next) {
      if (*link != &queue) continue;
      *link = queue.next;
      queue.listed = false;
      break;
    }
    (void)queue.items.append(last);
    queue.closed = true;
  }
  bool is_closed(int peer) const { return of(peer).closed; }
  // Drops what keep(item) says no of.
  template <class F>
  void sift(F&& keep) {
    for (OutboxPeer* queue = waiting_; queue != nullptr; queue = queue->next) {
      while (OutboxItem* const item = queue->items.remove([&](const OutboxItem& one) { return !keep(one); })) {
        change_size(-1);
        drop(*item);
      }
    }
  }

  bool collects() const { return strategy_->collects(); }
  bool holds(int peer) { return strategy_->holds(of(peer)); }
  int pieces_ahead() const { return strategy_->pieces_ahead(); }

  // Offers what waits to the network: offer(OutboxPeer&, send_by) calls send_by(packets) with the Packets of that peer, whose any_pieces() says
  // whether a part of a long message has gone. Whether anything has left.
  template <class Offer>
  bool flush(Offer&& offer) {
    bool left = false;
    for (OutboxPeer** link = &waiting_; *link != nullptr;) {
      OutboxPeer& peer = **link;
      offer(peer, [&](auto&& packets) {
        left |= strategy_->send(peer, packets, [this](OutboxItem& item) {
          drop(item);
          change_size(-1);
        }) != 0;
        left |= packets.any_pieces();
      });
      if (peer.items.empty() && peer.longs.empty()) {
        *link = peer.next;
        peer.listed = false;
      } else {
        link = &peer.next;
      }
    }
    if (left) departures_.store(departures() + 1, std::memory_order_relaxed);
    return left;
  }
  // Any thread: how often something has left.
  std::uint32_t departures() const { return departures_.load(std::memory_order_relaxed); }
  template <class F>
  void for_each_peer(F&& f) const {
    for (const OutboxPeer* peer = waiting_; peer != nullptr; peer = peer->next)
      if (!peer->items.empty() || !peer->longs.empty()) f(*peer);
  }

 private:
  OutboxPeer& of(int peer) const { return peers_[static_cast<std::size_t>(peer)]; }
  void list(OutboxPeer& queue, int peer);
  void drop(OutboxItem& item);
  // Others only look at it: no operation that waits for what this thread has written before.
  void change_size(int by) {
    size_.store(size_.load(std::memory_order_relaxed) + static_cast<std::uint32_t>(by), std::memory_order_relaxed);
  }

  // What does not change: a short message on its way reads it.
  platform::ZeroedArray<OutboxPeer> peers_;  // by world rank
  std::unique_ptr<Strategy> strategy_;

  alignas(platform::cache_line) OutboxPeer* waiting_ = nullptr;
  std::atomic<std::uint32_t> size_{0};
  std::atomic<std::uint32_t> departures_{0};
  OutboxItem* spare_ =
      nullptr;  // the next to be used: to know it costs no look at its lines, which another core has written
  OutboxItem* free_ = nullptr;
};

}  // namespace heddle::message
