#include "mpi/io/flow.hpp"

#include <algorithm>

#include "messaging/p2p/p2p.hpp"

namespace heddle::io {

bool Flow::promise_type::is_ready() const {
  if (job != nullptr) return job->is_done();
  return requests == nullptr || std::ranges::all_of(*requests, [](const Request* request) {
           return request->done.load(std::memory_order_acquire) != 0;
         });
}

bool Flow::resume() {
  handle_.resume();
  if (!handle_.done()) return false;
  if (const std::exception_ptr thrown = std::exchange(handle_.promise().thrown, nullptr))
    std::rethrow_exception(thrown);
  return true;
}

bool Flow::advance() {
  while (!handle_.done()) {
    if (!handle_.promise().is_ready()) return false;
    resume();
  }
  return true;
}

void Flow::run() {
  while (!resume()) {
    const std::vector<Request*>& awaited = *handle_.promise().requests;
    (void)p2p::wait_all(awaited.data(), awaited.size());
  }
}

Error end_requests(std::vector<Request*>& requests) {
  Error first;
  for (Request* request : requests) {
    Error error(request->error);
    MPI_Status status;
    if (!error && request->type != nullptr && request->type->finish != nullptr)
      error = request->type->finish(*request, status);
    if (error && !first) first = error;
    p2p::give_back(*request);
  }
  requests.clear();
  return first;
}

}  // namespace heddle::io
