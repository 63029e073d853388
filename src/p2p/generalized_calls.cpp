// Generalized requests (MPI 5.0, section 13.2): operations of the user's own behind MPI_Wait and MPI_Test.
#include "binding/impl.hpp"
#include "object/resolve.hpp"
#include "p2p/p2p.hpp"

namespace heddle::mpi {

namespace {

struct Callbacks {
  MPI_Grequest_query_function* query;
  MPI_Grequest_free_function* free;
  MPI_Grequest_cancel_function* cancel;
  void* extra_state;
};

Callbacks& callbacks(Request& request) { return *static_cast<Callbacks*>(request.state); }

constexpr RequestType generalized_type{
    .name = "generalized",
    .start = nullptr,
    .cancel =
        [](Request& request) {
          const Callbacks& c = callbacks(request);
          const int done = request.done.load(std::memory_order_acquire) != 0;
          return c.cancel ? Error(c.cancel(c.extra_state, done)) : success;
        },
    .finish =
        [](Request& request, MPI_Status& status) {
          const Callbacks& c = callbacks(request);
          return c.query ? Error(c.query(c.extra_state, &status)) : success;
        },
    .destroy =
        [](Request& request) {
          Callbacks& c = callbacks(request);
          if (c.free) c.free(c.extra_state);
          delete &c;
        },
};

}  // namespace

Error Grequest_start(MPI_Grequest_query_function* query, MPI_Grequest_free_function* free,
                     MPI_Grequest_cancel_function* cancel, void* extra_state, MPI_Request* handle) {
  Request& request = p2p::take_request(generalized_type);
  request.state = new Callbacks{query, free, cancel, extra_state};
  *handle = handle_of<MPI_Request>(request);
  return success;
}

Error Grequest_complete(Request& request) {
  if (request.type != &generalized_type) return fail(MPI_ERR_REQUEST, "the request is not a generalized one");
  p2p::complete(request);
  return success;
}

}  // namespace heddle::mpi
