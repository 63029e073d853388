// Each kernel thread has a cache of free requests: a thread takes requests from its own cache, and returns them to its own cache. So the
// critical path of a message has no lock and no shared cache line. A cache exchanges batches of requests with the arena, and returns all
// when its thread ends.
#pragma once

#include "objects/object/request.hpp"

namespace heddle::message {

struct RequestCache {
  static constexpr int most = 128;

  Request* free = nullptr;
  int size = 0;
};

// The kernel thread's cache; its first request creates it. It is a pointer, since a thread_local object with a destructor would need a
// guard on every access.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local RequestCache* cache_of_thread;
// The calling thread's cache, with at least one request in it.
RequestCache& filled_cache();
// Returns a request if the thread's cache is full or does not exist.
void give_back_late(Request& request);

// Returns a request in its initial state, with a handle that no earlier request had.
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
// Destroys the state of the request's kind, and returns the request to the cache. The handle is invalid from here on, even if the kind's
// destroy() fails; the result is its error.
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
