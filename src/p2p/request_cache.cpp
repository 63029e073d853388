#include "p2p/request_cache.hpp"

#include <pthread.h>

#include <memory>
#include <mutex>

#include "threads/thread_ref.hpp"

namespace heddle::p2p {

namespace {

constexpr int batch = 64;

struct Cache {
  Request* free = nullptr;
  int size = 0;
};

// Of the kernel thread, made by its first request. Not a thread_local object with a destructor: that would put a guard
// on every access.
constinit thread_local Cache* cache_of_thread = nullptr;

// Making and releasing requests may wait, and meanwhile other user-level threads run here, or this one elsewhere. So the cache
// is touched before or after, never around it.

Request* detach(Cache& cache, int keep) {
  Request* detached = nullptr;
  while (cache.size > keep) {
    Request* request = cache.free;
    cache.free = request->next;
    --cache.size;
    request->next = detached;
    detached = request;
  }
  return detached;
}

[[gnu::cold, gnu::noinline]] void release_all(Request* detached) {
  while (detached != nullptr) {
    Request* const request = detached;
    detached = request->next;
    release(*request);
  }
}

void at_thread_end(void* cache) {
  threads::end_of_kernel_thread();  // giving back may wait
  std::unique_ptr<Cache> owned(static_cast<Cache*>(cache));
  cache_of_thread = nullptr;
  release_all(detach(*owned, 0));
}

pthread_key_t end_key() {
  static const pthread_key_t key = [] {
    pthread_key_t k;
    pthread_key_create(&k, at_thread_end);
    return k;
  }();
  return key;
}

[[gnu::cold, gnu::noinline]] Cache& make_cache() {
  cache_of_thread = new Cache;
  pthread_setspecific(end_key(), cache_of_thread);
  return *cache_of_thread;
}

Cache& cache() { return cache_of_thread ? *cache_of_thread : make_cache(); }

[[gnu::cold, gnu::noinline]] void refill() {
  Request* made = nullptr;
  Request* last = nullptr;
  for (int i = 0; i < batch; ++i) {
    auto* request = make_object<Request>();
    request->handle = 0;
    request->next = made;
    made = request;
    if (last == nullptr) last = request;
  }
  Cache& mine = cache();
  last->next = mine.free;
  mine.free = made;
  mine.size += batch;
}

}  // namespace

Request& take_request() {
  if (cache().free == nullptr) [[unlikely]]
    refill();
  Cache& mine = cache();
  Request& request = *mine.free;
  mine.free = request.next;
  --mine.size;
  ++request.generation;
  request.handle = reinterpret_cast<std::uintptr_t>(&request) | (static_cast<std::uintptr_t>(request.generation) << 48);
  request.next = nullptr;
  return request;
}

Error give_back_done(Request& request) {
  Error error;
  if (request.type != nullptr && request.type->destroy != nullptr) error = request.type->destroy(request);
  request.handle = 0;
  request.done.store(0, std::memory_order_relaxed);
  request.persistent = request.active = request.cancelled = request.freed = request.receives = false;
  request.error = MPI_SUCCESS;
  request.type = nullptr;
  request.waiter = nullptr;
  request.vni = nullptr;
  request.comm = nullptr;
  request.datatype = nullptr;
  request.bytes = 0;
  request.state = nullptr;
  Cache& mine = cache();
  request.next = mine.free;
  mine.free = &request;
  if (++mine.size > 2 * batch) [[unlikely]]
    release_all(detach(mine, batch));
  return error;
}

}  // namespace heddle::p2p
