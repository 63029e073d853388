// Entries of the outbox, by peer: sends that were deferred or found no room, control messages with their payload, and long messages that
// their receivers have requested (CTS).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/platform/native.hpp"
#include "base/sync/backlog.hpp"
#include "network/header.hpp"
#include "network/route.hpp"
#include "objects/object/request.hpp"

namespace heddle::message {

// On cache lines of its own: one core writes it, another one reads and sends it.
struct alignas(platform::cache_line) OutboxItem {
  OutboxItem* next = nullptr;
  Request* request = nullptr;  // null: a control message
  lln::Header header;
  std::size_t bytes = 0;
  std::uint32_t number = 0;    // of this entry among those of its queue, from 1
  std::uint64_t since = 0;     // start of its wait in ticks; 0: the wait is not counted
  std::uint8_t overtaken = 0;  // the number of messages that have passed it (priority.hpp)
  std::byte payload[lln::Route::inject_bytes];
};

struct OutboxLinks {
  static OutboxItem* next(const OutboxItem& item) { return item.next; }
  static void set_next(OutboxItem& item, OutboxItem* other) { item.next = other; }
};
// All items for one peer, in MPI's order.
using OutboxQueue = sync::Backlog<platform::Native, OutboxItem, OutboxLinks>;

// A long message that leaves in pieces or as a whole (messaging/message/protocol/remote/streams.hpp).
struct OutboxLong {
  OutboxLong* behind = nullptr;  // the next one to the same peer
};

// The long messages to one peer, the oldest first.
class OutboxLongs {
 public:
  bool empty() const { return first_ == nullptr; }
  OutboxLong* first() const { return first_; }
  void append(OutboxLong& one) {
    one.behind = nullptr;
    (first_ == nullptr ? first_ : last_->behind) = &one;
    last_ = &one;
  }
  void remove_first() { first_ = first_->behind; }

 private:
  OutboxLong* first_ = nullptr;
  OutboxLong* last_ = nullptr;  // not valid if there is none
};

// Valid when all bytes are zero. The size is a power of two: every short message reads one element of an array of these.
struct alignas(64) OutboxPeer {
  OutboxQueue items;
  OutboxLongs longs;
  std::array<std::uint8_t, 2> memory{};  // the strategy's data about this peer
  bool listed = false;
  bool closed = false;  // no message is sent to this peer any more
  int peer = 0;
  OutboxPeer* next = nullptr;  // in the list of peers that have entries
  // For sends of the same thread through other VNIs, which must not overtake an entry (SendOrder). Any thread reads the numbers.
  std::atomic<std::uint32_t> appended{0};  // entries so far
  std::atomic<std::uint32_t> left{0};      // all entries up to this number have left
  std::atomic<bool> followed{false};       // such a send waits

  bool has_sent(std::uint32_t entry) const {
    return static_cast<std::int32_t>(left.load(std::memory_order_acquire) - entry) >= 0;
  }
};
static_assert(sizeof(OutboxPeer) == 64);

}  // namespace heddle::message
