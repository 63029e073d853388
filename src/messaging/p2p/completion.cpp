// MPI_Wait, MPI_Test and their families, MPI_Request_free, MPI_Request_get_status (MPI 5.0, sections 3.7.3-3.7.6).
#include <mpi-ext.h>

#include <array>
#include <memory>

#include "messaging/engine/engine.hpp"
#include "messaging/message/request_cache.hpp"
#include "messaging/p2p/requests.hpp"
#include "objects/binding/impl.hpp"
#include "objects/object/faults.hpp"
#include "objects/object/resolve.hpp"
#include "objects/object/status.hpp"

namespace heddle::p2p {

namespace {

bool is_done(Request& r) { return r.done.load(std::memory_order_acquire) != 0 || ends_now(r); }

// Neither null nor an inactive persistent request, both of which complete at once with an empty status.
bool is_active(const Request* r) { return r != nullptr && (!r->persistent || r->active); }

Error bad_request(MPI_Request handle, int index) {
  return fail(MPI_ERR_REQUEST, "request %d = %p is not a live request", index, static_cast<void*>(handle));
}

// Requests of one call, without an allocation for the usual number.
class RequestArray {
 public:
  // Null and inactive entries become null.
  Error resolve(int count, const MPI_Request handles[]) {
    if (count > static_cast<int>(few_.size())) {
      many_.reset(new Request*[static_cast<std::size_t>(count)]);
      data_ = many_.get();
    }
    Request** const data = data_;
    int active = 0;
    for (int i = 0; i < count; ++i) {
      Request* request = nullptr;
      if (handles[i] != MPI_REQUEST_NULL) {
        request = object(handles[i]);
        if (request == nullptr) return bad_request(handles[i], i);
        if (!is_active(request)) request = nullptr;
      }
      active += request != nullptr;
      data[i] = request;
    }
    active_ = active;
    return success;
  }
  Request*& operator[](int i) { return data_[i]; }
  Request* const* data() const { return data_; }
  int active() const { return active_; }

 private:
  std::array<Request*, 128> few_;
  std::unique_ptr<Request*[]> many_;
  Request** data_ = few_.data();
  int active_ = 0;
};

Error fill_status(Request& request, MPI_Status* status) {
  const bool wanted = status != MPI_STATUS_IGNORE;
  if (request.receives) [[likely]] {
    if (wanted)
      set_status(*status, request.source, request.tag, static_cast<MPI_Count>(request.bytes), request.cancelled);
    return success;
  }
  const bool finishes = request.type != nullptr && request.type->finish != nullptr;
  if (!wanted && !finishes) return success;
  MPI_Status unwanted;
  MPI_Status& out = wanted ? *status : unwanted;
  set_empty_status(out);
  set_status_cancelled(out, request.cancelled);
  return finishes ? request.type->finish(request, out) : success;
}

// The request has no reference: another communicator may have its place by now.
bool is_live(const Comm& comm, Context context) {
  return comm.handle != 0 && comm.context == context / planes * planes;
}

[[gnu::cold, gnu::noinline]] Error explain_on_comm(const Request& request, int error_class) {
  const Error error = is_fault(error_class) ? describe_fault(error_class) : explain(request);
  if (request.comm != nullptr && is_live(*request.comm, request.context)) error_detail().comm = request.comm;
  return error;
}

// The end of an operation: its status and error, and the request back to its pool.
[[gnu::always_inline]] inline Error collect(Request& request, MPI_Request* handle, MPI_Status* status) {
  Error error = fill_status(request, status);
  if (request.error != MPI_SUCCESS) [[unlikely]] {
    if (is_pending(request)) return explain_on_comm(request, MPIX_ERR_PROC_FAILED_PENDING);  // it goes on
    error = request.error != MPI_SUCCESS ? explain_on_comm(request, request.error) : fill_status(request, status);
  }
  if (request.persistent) {
    request.active = false;
  } else {
    const Error at_its_end = &request == current_rank().sent ? success : message::give_back_done(request);
    if (at_its_end) [[unlikely]]
      error = at_its_end;  // of a generalized request's callbacks the last one counts (section 13.2)
    *handle = MPI_REQUEST_NULL;
  }
  return error;
}

void set_empty(MPI_Status* status) {
  if (status != MPI_STATUS_IGNORE) set_empty_status(*status);
}

MPI_Status* status_at(MPI_Status statuses[], int i) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

void wait_for(RequestArray& requests, int count, bool any) {
  current_rank().engine->wait(requests.data(), static_cast<std::size_t>(count), any);
}

// Completes all; with an error, every status has its own (section 3.7.5).
Error collect_all(RequestArray& requests, int count, MPI_Request handles[], MPI_Status statuses[]) {
  bool failed = false;
  for (int i = 0; i < count; ++i) {
    MPI_Status* status = status_at(statuses, i);
    if (requests[i] == nullptr) {
      set_empty(status);
      continue;
    }
    const Error error = collect(*requests[i], &handles[i], status);
    if (!error && !failed) [[likely]]
      continue;
    if (!failed && statuses != MPI_STATUSES_IGNORE)
      for (int j = 0; j < i; ++j) statuses[j].MPI_ERROR = MPI_SUCCESS;
    failed = true;
    if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = error.code();
  }
  if (!failed) return success;
  if (statuses != MPI_STATUSES_IGNORE)
    for (int i = 0; i < count; ++i)
      if (requests[i] == nullptr) statuses[i].MPI_ERROR = MPI_SUCCESS;
  return Error(MPI_ERR_IN_STATUS);
}

// Completes those that are done; returns their indices and statuses.
Error collect_some(RequestArray& requests, int count, MPI_Request handles[], int* n, int indices[],
                   MPI_Status statuses[]) {
  *n = 0;
  bool failed = false;
  for (int i = 0; i < count; ++i) {
    if (requests[i] == nullptr || !is_done(*requests[i])) continue;
    MPI_Status* status = status_at(statuses, *n);
    const Error error = collect(*requests[i], &handles[i], status);
    if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = error.code();
    failed |= static_cast<bool>(error);
    indices[(*n)++] = i;
  }
  return failed ? Error(MPI_ERR_IN_STATUS) : success;
}

// Status of a request that has been seen done and stays. An error: it goes on.
Error inspect(Request& request, MPI_Status* status) {
  if (request.error != MPI_SUCCESS && is_pending(request)) [[unlikely]]
    return explain_on_comm(request, MPIX_ERR_PROC_FAILED_PENDING);
  return fill_status(request, status);
}

int first_done(RequestArray& requests, int count) {
  for (int i = 0; i < count; ++i)
    if (requests[i] != nullptr && is_done(*requests[i])) return i;
  return MPI_UNDEFINED;
}

bool all_done(RequestArray& requests, int count) {
  for (int i = 0; i < count; ++i)
    if (requests[i] != nullptr && !is_done(*requests[i])) return false;
  return true;
}

// For the nonblocking calls that take several requests: they test, progress once if that was not enough, at the VNI of
// a request that is not done first, and test again.
template <class Look>
bool test_twice(RequestArray& requests, int count, Look&& look) {
  if (look()) return true;
  const Request* needed = nullptr;
  for (int i = 0; i < count && needed == nullptr; ++i)
    if (requests[i] != nullptr && !is_done(*requests[i])) needed = requests[i];
  return p2p::test(current_rank(), needed, look);
}

}  // namespace

}  // namespace heddle::p2p

namespace heddle::mpi {

using namespace heddle::p2p;

Error Wait(MPI_Request* handle, MPI_Status* status) {
  if (*handle == MPI_REQUEST_NULL) {
    set_empty(status);
    return success;
  }
  Request* request = object(*handle);
  if (request == nullptr) return bad_request(*handle, 0);
  if (!is_active(request)) {
    set_empty(status);
    return success;
  }
  (void)p2p::wait(*request);
  return collect(*request, handle, status);
}

Error Test(MPI_Request* handle, int* flag, MPI_Status* status) {
  Request* request = nullptr;
  if (*handle != MPI_REQUEST_NULL && (request = object(*handle)) == nullptr) return bad_request(*handle, 0);
  if (!is_active(request)) {
    *flag = 1;
    set_empty(status);
    return success;
  }
  *flag = p2p::test(*request);
  return *flag ? collect(*request, handle, status) : success;
}

Error Waitall(int count, MPI_Request handles[], MPI_Status statuses[]) {
  RequestArray requests;
  if (Error e = requests.resolve(count, handles)) return e;
  if (!all_done(requests, count)) wait_for(requests, count, false);
  return collect_all(requests, count, handles, statuses);
}

Error Testall(int count, MPI_Request handles[], int* flag, MPI_Status statuses[]) {
  RequestArray requests;
  if (Error e = requests.resolve(count, handles)) return e;
  *flag = test_twice(requests, count, [&] { return all_done(requests, count); });
  return *flag ? collect_all(requests, count, handles, statuses) : success;
}

Error Waitany(int count, MPI_Request handles[], int* index, MPI_Status* status) {
  RequestArray requests;
  if (Error e = requests.resolve(count, handles)) return e;
  *index = MPI_UNDEFINED;
  if (requests.active() == 0) {
    set_empty(status);
    return success;
  }
  // Another thread may acknowledge the failure that the waiting thread was told of, and the receive goes on.
  do {
    wait_for(requests, count, true);
    *index = first_done(requests, count);
  } while (*index == MPI_UNDEFINED);
  return collect(*requests[*index], &handles[*index], status);
}

Error Testany(int count, MPI_Request handles[], int* index, int* flag, MPI_Status* status) {
  RequestArray requests;
  if (Error e = requests.resolve(count, handles)) return e;
  *index = MPI_UNDEFINED;
  *flag = requests.active() == 0;
  if (*flag) {
    set_empty(status);
    return success;
  }
  *flag = test_twice(requests, count, [&] { return (*index = first_done(requests, count)) != MPI_UNDEFINED; });
  return *flag ? collect(*requests[*index], &handles[*index], status) : success;
}

Error Waitsome(int count, MPI_Request handles[], int* outcount, int indices[], MPI_Status statuses[]) {
  RequestArray requests;
  if (Error e = requests.resolve(count, handles)) return e;
  *outcount = MPI_UNDEFINED;
  if (requests.active() == 0) return success;
  Error error;
  do {  // as MPI_Waitany
    wait_for(requests, count, true);
    error = collect_some(requests, count, handles, outcount, indices, statuses);
  } while (*outcount == 0);
  return error;
}

Error Testsome(int count, MPI_Request handles[], int* outcount, int indices[], MPI_Status statuses[]) {
  RequestArray requests;
  if (Error e = requests.resolve(count, handles)) return e;
  *outcount = MPI_UNDEFINED;
  if (requests.active() == 0) return success;
  (void)test_twice(requests, count, [&] { return first_done(requests, count) != MPI_UNDEFINED; });
  return collect_some(requests, count, handles, outcount, indices, statuses);
}

// ---- tests without completion

Error Request_get_status(Request* request, int* flag, MPI_Status* status) {
  *flag = !is_active(request) || p2p::test(*request);
  if (!*flag) return success;
  if (!is_active(request)) {
    set_empty(status);
    return success;
  }
  const Error error = inspect(*request, status);
  *flag = !is_fault(error.code());
  return error;
}

Error Request_get_status_all(int count, const MPI_Request handles[], int* flag, MPI_Status statuses[]) {
  RequestArray requests;
  if (Error e = requests.resolve(count, handles)) return e;
  *flag = test_twice(requests, count, [&] { return all_done(requests, count); });
  for (int i = 0; *flag && i < count; ++i) {
    if (requests[i] == nullptr) {
      set_empty(status_at(statuses, i));
    } else if (Error e = inspect(*requests[i], status_at(statuses, i))) {
      *flag = !is_fault(e.code());
      return e;
    }
  }
  return success;
}

Error Request_get_status_any(int count, const MPI_Request handles[], int* index, int* flag, MPI_Status* status) {
  RequestArray requests;
  if (Error e = requests.resolve(count, handles)) return e;
  *index = MPI_UNDEFINED;
  *flag = requests.active() == 0;
  if (*flag) {
    set_empty(status);
    return success;
  }
  *flag = test_twice(requests, count, [&] { return (*index = first_done(requests, count)) != MPI_UNDEFINED; });
  if (!*flag) return success;
  const Error error = inspect(*requests[*index], status);
  *flag = !is_fault(error.code());
  return error;
}

Error Request_get_status_some(int count, const MPI_Request handles[], int* outcount, int indices[],
                              MPI_Status statuses[]) {
  RequestArray requests;
  if (Error e = requests.resolve(count, handles)) return e;
  *outcount = MPI_UNDEFINED;
  if (requests.active() == 0) return success;
  (void)test_twice(requests, count, [&] { return first_done(requests, count) != MPI_UNDEFINED; });
  *outcount = 0;
  for (int i = 0; i < count; ++i) {
    if (requests[i] == nullptr || !is_done(*requests[i])) continue;
    if (Error e = inspect(*requests[i], status_at(statuses, *outcount))) return e;
    indices[(*outcount)++] = i;
  }
  return success;
}

// ---- the end of a request without a waiting thread

Error Request_free(MPI_Request* handle) {
  Request* request = object(*handle);
  if (request == nullptr) return bad_request(*handle, 0);
  if (request->persistent && !request->active) request->done.store(1, std::memory_order_relaxed);
  *handle = MPI_REQUEST_NULL;
  return end(*request);
}

Error Cancel(Request& request) {
  if (request.type != nullptr && request.type->cancel != nullptr) return request.type->cancel(request);
  if (request.vni != nullptr) (void)p2p::cancel(request);
  return success;
}

}  // namespace heddle::mpi
