#include "mpi/io/pending.hpp"

#include <new>
#include <utility>

#include "launch/rank/rank.hpp"
#include "messaging/p2p/p2p.hpp"
#include "objects/object/comm.hpp"
#include "objects/object/resolve.hpp"

namespace heddle::io {

namespace {

// The message names the file, since a call may complete requests of several.
Error finish(Request& request, MPI_Status& status) {
  const Operation& operation = static_cast<Pending*>(request.state)->operation();
  const Error error = operation.tell(&status);
  if (error) {
    if (Errhandler* old = std::exchange(error_detail().errhandler, operation.file().errhandler.get())) release(*old);
  }
  return error;
}

Error destroy(Request& request) {
  const std::unique_ptr<Pending> pending(static_cast<Pending*>(request.state));
  return success;
}

constexpr RequestType file_type{
    .name = "file", .start = nullptr, .cancel = nullptr, .finish = finish, .destroy = destroy};

}  // namespace

Pending::Pending(std::unique_ptr<Operation> operation) : operation_(std::move(operation)) {
  calls_user = operation_->calls_program();
}

void Pending::attach(std::unique_ptr<Pending> pending, MPI_Request* handle) {
  Request& request = p2p::take_request(file_type);
  pending->request_ = &request;
  pending->operation().file().open->unfinished.fetch_add(1, std::memory_order_relaxed);
  request.state = pending.release();
  *handle = handle_of<MPI_Request>(request);
}

void Pending::launch() {
  try {
    if (poll()) return;
  } catch (const std::bad_alloc&) {  // progress attempts it again
  }
  p2p::start_polling(*operation_->file().comm->owner, *this);
}

// A waiting thread may end it as soon as it is complete, and then close the file.
bool Pending::poll() {
  if (!advance()) return false;
  operation_->finish();
  OpenFile& file = *operation_->file().open;
  Rank& rank = *operation_->file().comm->owner;
  Request& request = *request_;
  file.unfinished.fetch_sub(1, std::memory_order_release);
  p2p::complete(request);
  p2p::notify(rank, rank.world_rank);
  return true;
}

}  // namespace heddle::io
