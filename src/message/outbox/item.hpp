// What waits to be sent: a send that has been deferred or found no room, or a control message with its payload.
#pragma once

#include <cstddef>

#include "lln/header.hpp"
#include "lln/route.hpp"
#include "object/request.hpp"
#include "platform/native.hpp"
#include "sync/backlog.hpp"

namespace heddle::message {

struct OutboxItem {
  OutboxItem* next = nullptr;
  Request* request = nullptr;  // null: a control message
  lln::Header header;
  std::size_t bytes = 0;
  std::byte payload[lln::Route::inject_bytes];
};

struct OutboxLinks {
  static OutboxItem* next(const OutboxItem& item) { return item.next; }
  static void set_next(OutboxItem& item, OutboxItem* other) { item.next = other; }
};
// All for one peer, in the order of MPI.
using OutboxQueue = sync::Backlog<platform::Native, OutboxItem, OutboxLinks>;

}  // namespace heddle::message
