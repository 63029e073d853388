// Generalized requests (MPI 5.0, section 13.2): operations of the user's own behind MPI_Wait and MPI_Test.
#include <memory>

#include "launch/rank/rank.hpp"
#include "messaging/engine/engine.hpp"
#include "messaging/p2p/p2p.hpp"
#include "objects/binding/impl.hpp"
#include "objects/object/resolve.hpp"

namespace heddle::mpi {

namespace {

struct Callbacks {
  MPI_Grequest_query_function* query;
  MPI_Grequest_free_function* free;
  MPI_Grequest_cancel_function* cancel;
  void* extra_state;
};

Callbacks& callbacks(Request& request) { return *static_cast<Callbacks*>(request.state); }

// A callback's result goes to the caller of the function that called it (section 13.2).
Error told(const char* callback, int code) {
  if (code == MPI_SUCCESS) return success;
  return fail(code, "the %s function of a generalized request returned error code %d", callback, code);
}

Error query(Request& request, MPI_Status& status) {
  const Callbacks& c = callbacks(request);
  return c.query != nullptr ? told("query", c.query(c.extra_state, &status)) : success;
}

Error cancel(Request& request) {
  const Callbacks& c = callbacks(request);
  const int completed = request.done.load(std::memory_order_acquire) != 0;
  return c.cancel != nullptr ? told("cancel", c.cancel(c.extra_state, completed)) : success;
}

Error destroy(Request& request) {
  const std::unique_ptr<Callbacks> c(&callbacks(request));
  return c->free != nullptr ? told("free", c->free(c->extra_state)) : success;
}

constexpr RequestType generalized_type{
    .name = "generalized", .start = nullptr, .cancel = cancel, .finish = query, .destroy = destroy};

}  // namespace

Error Grequest_start(MPI_Grequest_query_function* query, MPI_Grequest_free_function* free,
                     MPI_Grequest_cancel_function* cancel, void* extra_state, MPI_Request* handle) {
  auto made = std::make_unique<Callbacks>(Callbacks{query, free, cancel, extra_state});
  Request& request = p2p::take_request(generalized_type);
  request.state = made.release();
  *handle = handle_of<MPI_Request>(request);
  return success;
}

Error Grequest_complete(Request& request) {
  if (request.type != &generalized_type) return fail(MPI_ERR_REQUEST, "the request is not a generalized one");
  return current_rank().engine->vni(0).complete(request);
}

}  // namespace heddle::mpi
