#include "message/outbox/outbox.hpp"

namespace heddle::message {

Outbox::~Outbox() {
  while (OutboxItem* const item = free_) {
    free_ = item->next;
    delete item;
  }
}

void Outbox::reserve() {
  if (free_ == nullptr) free_ = new OutboxItem;
}

OutboxItem& Outbox::make() {
  reserve();
  OutboxItem& item = *std::exchange(free_, free_->next);
  item.request = nullptr;
  return item;
}

void Outbox::drop(OutboxItem& item) {
  item.next = free_;
  free_ = &item;
}

bool Outbox::append(int peer, OutboxItem& item) {
  Queue& queue = queues_[static_cast<std::size_t>(peer)];
  const bool first = queue.items.append(item);
  if (!queue.listed) {
    queue.peer = peer;
    queue.listed = true;
    queue.next = std::exchange(waiting_, &queue);
  }
  size_.fetch_add(1, std::memory_order_relaxed);
  return first;
}

bool Outbox::remove(const Request& send) {
  OutboxItem* const item = queues_[static_cast<std::size_t>(send.peer)].items.remove(
      [&](const OutboxItem& waiting) { return waiting.request == &send; });
  if (item == nullptr) return false;
  drop(*item);
  size_.fetch_sub(1, std::memory_order_relaxed);
  return true;
}

}  // namespace heddle::message
