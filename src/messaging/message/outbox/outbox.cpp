#include "messaging/message/outbox/outbox.hpp"

#include "base/instruments/counters.hpp"
#include "base/instruments/ticks.hpp"

namespace heddle::message {

void Outbox::reserve() {
  if (spare_ == nullptr && free_ == nullptr) spare_ = &items_.emplace_back();
}

OutboxItem& Outbox::make() {
  reserve();
  OutboxItem& item = spare_ != nullptr ? *std::exchange(spare_, nullptr) : *std::exchange(free_, free_->next);
  item.request = nullptr;
  item.overtaken = 0;
  return item;
}

void Outbox::drop(OutboxItem& item) {
  if (spare_ == nullptr) {
    spare_ = &item;
    return;
  }
  item.next = free_;
  free_ = &item;
}

void Outbox::list(OutboxPeer& queue, int peer) {
  change_size(1);
  if (queue.listed) return;
  queue.peer = peer;
  queue.listed = true;
  queue.next = std::exchange(waiting_, &queue);
}

bool Outbox::append(int peer, OutboxItem& item) {
  item.since = instruments::counting() ? instruments::ticks() : 0;
  OutboxPeer& queue = of(peer);
  item.number = queue.appended.load(std::memory_order_relaxed) + 1;
  queue.appended.store(item.number, std::memory_order_relaxed);
  const bool first = queue.items.append(item);
  list(queue, peer);
  return first;
}

bool Outbox::remove(const Request& send) {
  OutboxItem* const item =
      of(send.peer).items.remove([&](const OutboxItem& waiting) { return waiting.request == &send; });
  if (item == nullptr) return false;
  drop(*item);
  change_size(-1);
  note_left(of(send.peer));
  return true;
}

void Outbox::append_long(int peer, OutboxLong& one) {
  OutboxPeer& queue = of(peer);
  queue.longs.append(one);
  list(queue, peer);
}

void Outbox::end_first_long(int peer) {
  of(peer).longs.remove_first();
  change_size(-1);
}

}  // namespace heddle::message
