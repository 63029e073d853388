// What waits to be sent to one peer: sends that have been deferred or found no room and control messages with their payload, and long
// messages that their receiver has asked for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/platform/native.hpp"
#include "base/sync/backlog.hpp"
#include "network/header.hpp"
#include "network/route.hpp"
#include "objects/object/request.hpp"

namespace heddle::message {

// Of cache lines of its own: one core leaves it, and another takes it.
struct alignas(platform::cache_line) OutboxItem {
  OutboxItem* next = nullptr;
  Request* request = nullptr;  // null: a control message
  lln::Header header;
  std::size_t bytes = 0;
  std::uint64_t since = 0;     // it waits, in ticks; 0: nobody counts
  std::uint8_t overtaken = 0;  // by so many (priority.hpp)
  std::byte payload[lln::Route::inject_bytes];
};

struct OutboxLinks {
  static OutboxItem* next(const OutboxItem& item) { return item.next; }
  static void set_next(OutboxItem& item, OutboxItem* other) { item.next = other; }
};
// All for one peer, in the order of MPI.
using OutboxQueue = sync::Backlog<platform::Native, OutboxItem, OutboxLinks>;

// A long message that goes in pieces, or as a whole (messaging/message/protocol/remote/streams.hpp).
struct OutboxLong {
  OutboxLong* behind = nullptr;  // the next one to the same peer
};

// Those to one peer, the oldest first.
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
  OutboxLong* last_ = nullptr;  // of some
};

// Valid when all its bytes are zero. Its size is a power of two: a short message on its way looks at one of an array of them.
struct alignas(64) OutboxPeer {
  OutboxQueue items;
  OutboxLongs longs;
  std::array<std::uint8_t, 2> memory{};  // what the strategy remembers of this peer
  bool listed = false;
  bool closed = false;  // nothing goes there any more
  int peer = 0;
  OutboxPeer* next = nullptr;  // of those that something waits for
};
static_assert(sizeof(OutboxPeer) == 64);

}  // namespace heddle::message
