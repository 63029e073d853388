#include "messaging/message/request_cache.hpp"

#include <memory>
#include <mutex>
#include <new>

#include "base/platform/thread_end.hpp"
#include "base/threads/thread_ref.hpp"

namespace heddle::message {

constinit thread_local RequestCache* cache_of_thread = nullptr;

namespace {

constexpr int batch = RequestCache::most / 2;

// Allocating and releasing a request may wait. Meanwhile other user-level threads may run on this kernel thread, or this one may continue
// on another. So no function keeps a reference to the cache across such a call.

Request* detach(RequestCache& cache, int keep) {
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
  threads::end_of_kernel_thread();  // releasing requests may wait
  std::unique_ptr<RequestCache> owned(static_cast<RequestCache*>(cache));
  cache_of_thread = nullptr;
  release_all(detach(*owned, 0));
}

[[gnu::cold, gnu::noinline]] RequestCache& make_cache() {
  auto made = std::make_unique<RequestCache>();
  platform::leave_at_thread_end<at_thread_end>(made.get());
  return *(cache_of_thread = made.release());
}

RequestCache& cache() { return cache_of_thread ? *cache_of_thread : make_cache(); }

}  // namespace

[[gnu::cold, gnu::noinline]] RequestCache& filled_cache() {
  if (cache().free != nullptr) return cache();
  Request* made = nullptr;
  int n = 0;
  Request* last = nullptr;
  for (int i = 0; i < batch; ++i) {
    Request* request = nullptr;
    try {
      request = make_object<Request>();
    } catch (const std::bad_alloc&) {
      if (made == nullptr) throw;
      break;
    }
    request->handle = 0;
    request->next = made;
    made = request;
    if (last == nullptr) last = request;
    ++n;
  }
  RequestCache& mine = cache();
  last->next = mine.free;
  mine.free = made;
  mine.size += n;
  return mine;
}

[[gnu::cold, gnu::noinline]] void give_back_late(Request& request) {
  try {
    release_all(detach(cache(), batch));
    RequestCache& mine = cache();
    request.next = mine.free;
    mine.free = &request;
    ++mine.size;
  } catch (const std::bad_alloc&) {
    release(request);
  }
}

}  // namespace heddle::message
