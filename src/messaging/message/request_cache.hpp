// Requests come from the calling thread's own cache and go back to the cache of whoever gives them back: no lock and
// no shared line on the way of a message. A cache trades with the arena in batches, and empties itself when its
// thread ends.
#pragma once

#include "objects/object/request.hpp"

namespace heddle::message {

struct RequestCache {
  static constexpr int most = 128;

  Request* free = nullptr;
  int size = 0;
};

// Of the kernel thread, made by its first request. Not an object with a destructor: that would put a guard on every
// access.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local RequestCache* cache_of_thread;
// The calling thread's, with a request in it.
RequestCache& filled_cache();
// A request back, where the thread's cache is full or not there.
void give_back_late(Request& request);

// A request in its initial state with a handle that no earlier request had.
[[gnu::always_inline]] inline Request& take_request() {
  RequestCache* mine = cache_of_thread;
  if (mine == nullptr || mine->free == nullptr) [[unlikely]]
    mine = &filled_cache();
  Request& request = *mine->free;
  mine->free = request.next;
  --mine->size;
  ++request.generation;
  request.handle = reinterpret_cast<std::uintptr_t>(&request) | (static_cast<std::uintptr_t>(request.generation) << 48);
  request.next = nullptr;
  return request;
}
// The end of one that is done: its kind's own state, then the request. Its handle is dead from here on, whatever the
// error, which is that of the kind's destroy.
inline Error give_back_done(Request& request) {
  Error error;
  if (request.type != nullptr && request.type->destroy != nullptr) [[unlikely]]
    error = request.type->destroy(request);
  request.handle = 0;
  request.done.store(0, std::memory_order_relaxed);
  request.persistent = request.active = request.cancelled = request.receives = false;
  request.owner = Owner::program;
  request.error = MPI_SUCCESS;
  request.type = nullptr;
  request.waiter = nullptr;
  request.vni = nullptr;
  request.comm = nullptr;
  request.datatype = nullptr;
  request.bytes = 0;
  request.state = nullptr;
  RequestCache* mine = cache_of_thread;
  if (mine == nullptr || mine->size >= RequestCache::most) [[unlikely]] {
    give_back_late(request);
    return error;
  }
  request.next = mine->free;
  mine->free = &request;
  ++mine->size;
  return error;
}

}  // namespace heddle::message
