// MPIX_Comm_agree and MPIX_Comm_shrink, and their nonblocking kin.
#include <memory>
#include <new>

#include "messaging/engine/blocked.hpp"
#include "messaging/message/request_cache.hpp"
#include "messaging/p2p/p2p.hpp"
#include "messaging/p2p/requests.hpp"
#include "mpi/comm/make_comm.hpp"
#include "mpi/ft/agreement.hpp"
#include "objects/binding/impl.hpp"
#include "objects/object/resolve.hpp"

namespace heddle::mpi {

namespace {

using ft::Agreement;
using Operation = Agreement::Operation;

Error error_of(const Agreement::Outcome& outcome) {
  if (outcome.error == MPI_ERR_OTHER)
    return fail(MPI_ERR_OTHER,
                "members of the communicator are in MPIX_Comm_agree while others are in MPIX_Comm_shrink");
  return outcome.error == MPI_SUCCESS ? success : describe_fault(outcome.error);
}

Agreement::Outcome wait_for(Agreement& agreement) {
  const boot::Wait wait = engine::wait_on(agreement.comm(), boot::Awaited::operation);
  p2p::wait_until(agreement.rank(), wait, [&] { return agreement.advance(); });
  return agreement.decide();
}

MPI_Comm shrunk(Comm& comm, const Agreement::Outcome& outcome) {
  if (outcome.error != MPI_SUCCESS) return MPI_COMM_NULL;
  Group* const group = make_group(*comm.owner, outcome.survivors);
  return handle_of<MPI_Comm>(*make_child(comm, {.context = outcome.context, .local_group = group}));
}

// A request over an agreement.
struct Pending final : progress::Pollable {
  Pending(ft::OfRank& faults, Comm& of, Operation operation, int* in_out, MPI_Comm* out)
      : agreement(ft::make_agreement(faults, of, operation, in_out != nullptr ? *in_out : 0)),
        comm(of),
        flag(in_out),
        newcomm(out) {
    retain(of);
  }
  ~Pending() {
    agreement.reset();
    release(comm);
  }
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;

  bool poll() override {
    if (!agreement->advance()) return false;
    const Agreement::Outcome outcome = agreement->decide();
    if (newcomm != nullptr) *newcomm = shrunk(comm, outcome);  // if there is no memory for it, it is tried again
    if (flag != nullptr) *flag = outcome.flag;
    agreement->conclude();
    request->error = outcome.error;
    p2p::complete(*request);
    return true;
  }

  std::unique_ptr<Agreement> agreement;
  Comm& comm;
  int* flag;          // of an agree
  MPI_Comm* newcomm;  // of a shrink
  Request* request = nullptr;
};

constexpr RequestType pending_type{
    .name = "agreement",
    .start = nullptr,
    .cancel = nullptr,
    .finish = nullptr,
    .destroy =
        [](Request& request) {
          delete static_cast<Pending*>(request.state);
          return success;
        },
    .awaited = boot::Awaited::operation,
};

// Once it has its number among the agreements of the communicator, the others rely on it.
Error start(Comm& comm, Operation operation, int* flag, MPI_Comm* newcomm, MPI_Request* handle) {
  ft::OfRank* faults = nullptr;
  if (Error e = ft::find(comm, faults)) return e;
  Request& request = message::take_request();
  try {
    Pending& pending = *new Pending(*faults, comm, operation, flag, newcomm);
    request.type = &pending_type;
    request.comm = &comm;
    request.context = comm.context;
    request.state = &pending;
    pending.request = &request;
    *handle = handle_of<MPI_Request>(request);
    p2p::start_polling(*comm.owner, pending);
  } catch (const std::bad_alloc&) {
    p2p::give_back_unstarted(request);
    throw;
  }
  return success;
}

}  // namespace

Error MPIX_Comm_agree(Comm& comm, int* flag) {
  ft::OfRank* faults = nullptr;
  if (Error e = ft::find(comm, faults)) return e;
  const auto agreement = ft::make_agreement(*faults, comm, Operation::agree, *flag);
  const Agreement::Outcome outcome = wait_for(*agreement);
  *flag = outcome.flag;
  return error_of(outcome);
}

Error MPIX_Comm_iagree(Comm& comm, int* flag, MPI_Request* request) {
  return start(comm, Operation::agree, flag, nullptr, request);
}

Error MPIX_Comm_shrink(Comm& comm, MPI_Comm* newcomm) {
  ft::OfRank* faults = nullptr;
  *newcomm = MPI_COMM_NULL;
  if (Error e = ft::find(comm, faults)) return e;
  const auto agreement = ft::make_agreement(*faults, comm, Operation::shrink, 0);
  const Agreement::Outcome outcome = wait_for(*agreement);
  if (Error e = error_of(outcome)) return e;
  *newcomm = shrunk(comm, outcome);
  return success;
}

Error MPIX_Comm_ishrink(Comm& comm, MPI_Comm* newcomm, MPI_Request* request) {
  *newcomm = MPI_COMM_NULL;
  return start(comm, Operation::shrink, nullptr, newcomm, request);
}

}  // namespace heddle::mpi
