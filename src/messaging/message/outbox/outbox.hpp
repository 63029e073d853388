// The outbox of a VNI: messages that cannot be sent now, or that a strategy arranges, wait here by peer until the network takes them.
//
// With the VNI's lock held, unless a comment says otherwise. Only peers that have entries cost time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
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
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  // Any thread. must_wait: later messages to this peer have to wait behind entries. any: there are entries.
  bool must_wait(int peer) const { return !of(peer).items.empty(); }
  bool any() const { return size_.load(std::memory_order_relaxed) != 0; }

  // Any thread. The queue of a peer, whose entries a send through another VNI may have to follow.
  OutboxPeer& queue_of(int peer) const { return of(peer); }

  // Any thread that is about to append. Prefetches the lines that append() writes, as far as they are known without the lock.
  void fetch_for_append(int peer) const {
    platform::Native::prefetch_for_write(&waiting_);
    platform::Native::prefetch_for_write(&of(peer));
  }

  // Allocates memory, so that the next make() needs none. Throws std::bad_alloc.
  void reserve();
  // Throws std::bad_alloc.
  OutboxItem& make();
  // True if the item is the first entry of this peer: blocked threads have not requested notice of room for it.
  bool append(int peer, OutboxItem& item);
  // True if this send was an entry.
  bool remove(const Request& send);

  // Appends a long message behind the other long messages to this peer; removes the first one, which has left.
  void append_long(int peer, OutboxLong& one);
  void end_first_long(int peer);
  OutboxLong* first_long(int peer) const { return of(peer).longs.first(); }

  // Closes a peer that has failed: calls drop_item(item) for all its entries. Nothing is sent to it from then on, since must_wait() stays
  // true. Throws std::bad_alloc before it has any effect.
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
    note_left(queue);
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
  // Removes the entries for which keep(item) is false.
  template <class F>
  void sift(F&& keep) {
    for (OutboxPeer* queue = waiting_; queue != nullptr; queue = queue->next) {
      while (OutboxItem* const item = queue->items.remove([&](const OutboxItem& one) { return !keep(one); })) {
        change_size(-1);
        drop(*item);
      }
      note_left(*queue);
    }
  }

  bool collects() const { return strategy_->collects(); }
  bool holds(int peer) { return strategy_->holds(of(peer)); }
  int pieces_ahead() const { return strategy_->pieces_ahead(); }

  // Offers the entries to the network. offer(OutboxPeer&, send_by) calls send_by(packets) with the Packets of that peer; their
  // any_pieces() is true if a piece of a long message has left. True: something has left.
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
      note_left(peer);
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
  // True once after entries have left that a send through another VNI was waiting for.
  bool take_followed() { return std::exchange(followed_, false); }
  // Any thread. The number of flushes in which something has left.
  std::uint32_t departures() const { return departures_.load(std::memory_order_relaxed); }
  template <class F>
  void for_each_peer(F&& f) const {
    for (const OutboxPeer* peer = waiting_; peer != nullptr; peer = peer->next)
      if (!peer->items.empty() || !peer->longs.empty()) f(*peer);
  }

 private:
  OutboxPeer& of(int peer) const { return peers_[static_cast<std::size_t>(peer)]; }
  void list(OutboxPeer& queue, int peer);
  // After entries may have left the queue.
  void note_left(OutboxPeer& queue) {
    const OutboxItem* const first = queue.items.front();
    const std::uint32_t left = first != nullptr ? first->number - 1 : queue.appended.load(std::memory_order_relaxed);
    if (left == queue.left.load(std::memory_order_relaxed)) return;
    queue.left.store(
        left, std::memory_order_seq_cst);  // before the load: a send that says that it follows reads this afterwards
    if (queue.followed.load(std::memory_order_seq_cst)) [[unlikely]] {
      queue.followed.store(false, std::memory_order_relaxed);
      followed_ = true;
    }
  }
  void drop(OutboxItem& item);
  // No atomic increment: only the lock holder writes it, and other threads only read it.
  void change_size(int by) {
    size_.store(size_.load(std::memory_order_relaxed) + static_cast<std::uint32_t>(by), std::memory_order_relaxed);
  }

  // Members that do not change: every short message reads them.
  platform::ZeroedArray<OutboxPeer> peers_;  // by world rank
  std::unique_ptr<Strategy> strategy_;

  alignas(platform::cache_line) OutboxPeer* waiting_ = nullptr;
  std::atomic<std::uint32_t> size_{0};
  std::atomic<std::uint32_t> departures_{0};
  bool followed_ = false;
  OutboxItem* spare_ =
      nullptr;  // the next item to use; its address is known without reading the item, which another core has written
  OutboxItem* free_ = nullptr;
  std::deque<OutboxItem> items_;  // all: those in use, the spare one and the free ones
};

}  // namespace heddle::message
