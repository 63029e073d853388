// MPI_Bsend, MPI_Ibsend and the calls that attach, flush and detach buffers (MPI 5.0, section 3.6).
#include "binding/impl.hpp"
#include "object/resolve.hpp"
#include "p2p/buffer.hpp"
#include "p2p/requests.hpp"

namespace heddle::mpi {

using p2p::SendBuffer;

namespace {

Error check_new(const SendBuffer* attached, const void* buffer, MPI_Count size) {
  if (attached != nullptr) return fail(MPI_ERR_BUFFER, "a buffer is already attached");
  if (buffer == nullptr && size != 0) return fail(MPI_ERR_BUFFER, "buffer is null");
  return success;
}

// What MPI_..._detach_buffer hands back; the messages have left. `address` is a void**.
void hand_back(const SendBuffer* buffer, void* address, CountOut size) {
  *static_cast<void**>(address) = buffer != nullptr ? buffer->base() : nullptr;
  size.set(buffer != nullptr && buffer->base() != MPI_BUFFER_AUTOMATIC ? buffer->size() : 0);
}

// The request of a nonblocking flush: done when the buffer is found empty.
struct Flush final : progress::Pollable {
  SendBuffer* buffer;
  Request* request;
  bool poll() override {
    if (!buffer->empty()) return false;
    p2p::complete(*request);
    return true;
  }
};

constexpr RequestType flush_type{
    .name = "flush", .start = nullptr, .cancel = nullptr, .finish = nullptr, .destroy = [](Request& request) {
      delete static_cast<Flush*>(request.state);
      return success;
    }};

Error start_flush(SendBuffer* buffer, MPI_Request* handle) {
  if (buffer == nullptr) return fail(MPI_ERR_BUFFER, "no buffer is attached");
  Request& request = p2p::take_request(flush_type);
  auto* flush = new Flush;
  flush->buffer = buffer;
  flush->request = &request;
  request.state = flush;
  *handle = handle_of<MPI_Request>(request);
  p2p::start_polling(current_rank(), *flush);
  return success;
}

Error flush(SendBuffer* buffer) {
  if (buffer == nullptr) return fail(MPI_ERR_BUFFER, "no buffer is attached");
  buffer->flush();
  return success;
}

}  // namespace

Error Bsend(const void* buf, MPI_Count count, const Datatype& datatype, int dest, int tag, Comm& comm) {
  return p2p::buffered_send(comm, buf, count, datatype, dest, tag);
}
Error Ibsend(const void* buf, MPI_Count count, const Datatype& datatype, int dest, int tag, Comm& comm,
             MPI_Request* request) {
  if (Error e = p2p::buffered_send(comm, buf, count, datatype, dest, tag)) return e;
  *request = handle_of<MPI_Request>(p2p::null_request(false));  // the copy is made: done at once
  return success;
}

Error Buffer_attach(void* buffer, MPI_Count size) {
  Rank& rank = current_rank();
  if (Error e = check_new(rank.buffer.get(), buffer, size)) return e;
  rank.buffer = std::make_unique<SendBuffer>(buffer, size);
  return success;
}
Error Buffer_detach(void* address, CountOut size) {
  Rank& rank = current_rank();
  if (rank.buffer) rank.buffer->flush();
  hand_back(rank.buffer.get(), address, size);
  rank.buffer.reset();
  return success;
}
Error Buffer_flush() { return flush(current_rank().buffer.get()); }
Error Buffer_iflush(MPI_Request* request) { return start_flush(current_rank().buffer.get(), request); }

Error Comm_attach_buffer(Comm& comm, void* buffer, MPI_Count size) {
  if (Error e = check_new(comm.buffer, buffer, size)) return e;
  comm.buffer = new SendBuffer(buffer, size);
  return success;
}
Error Comm_detach_buffer(Comm& comm, void* address, CountOut size) {
  if (comm.buffer != nullptr) comm.buffer->flush();
  hand_back(comm.buffer, address, size);
  delete comm.buffer;
  comm.buffer = nullptr;
  return success;
}
Error Comm_flush_buffer(Comm& comm) { return flush(comm.buffer); }
Error Comm_iflush_buffer(Comm& comm, MPI_Request* request) { return start_flush(comm.buffer, request); }

}  // namespace heddle::mpi
