#include "messaging/message/unexpected_store.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "base/platform/native.hpp"
#include "messaging/wake/wake.hpp"
#include "network/credits.hpp"

namespace heddle::message {

using instruments::Count;
using instruments::count_held;

static_assert(sizeof(Unexpected) + 2 * sizeof(std::size_t) <= lln::Credits::per_message,
              "with what malloc adds to a payload");

Unexpected& UnexpectedStore::make(Unexpected::Origin origin, int sender, const lln::Header& header,
                                  std::size_t payload_bytes) {
  std::byte* large = nullptr;
  try {
    if (free_ == nullptr) free_ = &messages_.emplace_back();
    if (payload_bytes > sizeof Unexpected::storage) large = new std::byte[payload_bytes];
  } catch (const std::bad_alloc&) {
    matcher_.forget(header);
    throw;
  }
  Unexpected& message = *free_;
  free_ = message.next;
  message.header = header;
  message.origin = origin;
  message.sender = sender;
  // Messages of this rank to itself arrive when they are sent.
  message.stamp = origin == Unexpected::Origin::self ? lln::Route::stamp() : stamps_[static_cast<std::size_t>(sender)];
  message.local = nullptr;
  message.received = false;
  message.payload_bytes = payload_bytes;
  message.payload = large != nullptr ? large : message.storage;
  return message;
}

void UnexpectedStore::keep(Unexpected::Origin origin, int sender, const lln::Header& header, const std::byte* payload,
                           std::size_t payload_bytes, std::size_t bytes) {
  Unexpected& message = make(origin, sender, header, payload_bytes);
  std::copy_n(payload, payload_bytes, message.payload);
  message.bytes = bytes;
  add(message);
}

// The payload is a separate block, whatever its size: drop() reports such blocks to the network.
void UnexpectedStore::keep_on_credit(int sender, const lln::Header& header, const std::byte* payload,
                                     std::size_t payload_bytes, std::size_t bytes) {
  Unexpected& message = make(Unexpected::Origin::other_node, sender, header, 0);
  try {
    message.payload = new std::byte[payload_bytes];
  } catch (const std::bad_alloc&) {
    drop(message);
    matcher_.forget(header);
    throw;
  }
  std::copy_n(payload, payload_bytes, message.payload);
  message.payload_bytes = payload_bytes;
  message.bytes = bytes;
  count_held(counters_, Count::buffered, payload_bytes);
  add(message);
  route_.note_stored(sender, payload_bytes);
}

void UnexpectedStore::add(Unexpected& message) {
  count_held(counters_, Count::unexpected);
  matcher_.add_unexpected(message);
  platform::Native::light_fence();  // who begins to watch sees the message, or else is told of it
  if (UnexpectedWatch* const told = watch.load(std::memory_order_acquire)) [[unlikely]]
    told->on_unexpected();
  if (probers.load(std::memory_order_relaxed) != 0) [[unlikely]]
    wake_.on(wake::Event::probed_message);
}

void UnexpectedStore::drop_payload(Unexpected& message) {
  delete[] std::exchange(message.payload, message.storage);
  if (message.origin == Unexpected::Origin::other_node && lln::needs_credit(message.header.kind))
    route_.note_dropped(message.sender, message.payload_bytes);
}

}  // namespace heddle::message
