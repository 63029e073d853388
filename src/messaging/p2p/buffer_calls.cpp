// MPI_Bsend, MPI_Ibsend and the calls that attach, flush and detach buffers (MPI 5.0, section 3.6).
#include <memory>
#include <optional>
#include <utility>

#include "messaging/p2p/buffer.hpp"
#include "messaging/p2p/requests.hpp"
#include "objects/binding/impl.hpp"
#include "objects/object/resolve.hpp"
#include "objects/object/session.hpp"

namespace heddle::mpi {

using p2p::SendBuffer;

namespace {

using Slot = std::shared_ptr<SendBuffer>;  // of a communicator, a session or the process; null: nothing is attached

Error attach(Slot& slot, void* buffer, MPI_Count size) {
  if (slot) return fail(MPI_ERR_BUFFER, "a buffer is already attached");
  if (buffer == nullptr && size != 0) return fail(MPI_ERR_BUFFER, "buffer is null");
  slot = std::make_shared<SendBuffer>(buffer, size);
  return success;
}

// Hands the memory back once all messages have left. `address` is a void**.
Error detach(Slot& slot, void* address, CountOut size) {
  const Slot buffer = std::move(slot);
  if (buffer) buffer->flush();
  *static_cast<void**>(address) = buffer ? buffer->base() : nullptr;
  size.set(buffer && buffer->base() != MPI_BUFFER_AUTOMATIC ? buffer->size() : 0);
  return success;
}

Error flush(const Slot& slot) {
  if (!slot) return fail(MPI_ERR_BUFFER, "no buffer is attached");
  slot->flush();
  return success;
}

// The request of a nonblocking flush: done when the messages that it found have left. The buffer may be detached meanwhile.
struct Flush final : progress::Pollable {
  Slot buffer;
  std::uint64_t copied;  // earlier messages
  Request* request;
  bool poll() override {
    const std::optional<bool> left = buffer->left(copied);
    poll_again = !left;  // the thread that has the buffer rings no doorbell when it is done
    if (!left.value_or(false)) return false;
    p2p::complete(*request);
    return true;
  }
};

constexpr RequestType flush_type{
    .name = "flush", .start = nullptr, .cancel = nullptr, .finish = nullptr, .destroy = [](Request& request) {
      delete static_cast<Flush*>(request.state);
      return success;
    }};

Error start_flush(const Slot& slot, MPI_Request* handle) {
  if (!slot) return fail(MPI_ERR_BUFFER, "no buffer is attached");
  auto made = std::make_unique<Flush>();
  Request& request = p2p::take_request(flush_type);
  auto* const flush = made.release();
  flush->buffer = slot;
  flush->copied = slot->copied();
  flush->request = &request;
  request.state = flush;
  *handle = handle_of<MPI_Request>(request);
  p2p::start_polling(current_rank(), *flush);
  return success;
}

Slot& slot_of_process() { return current_rank().buffer; }

}  // namespace

Error Bsend(const void* buf, MPI_Count count, const Datatype& datatype, int dest, int tag, Comm& comm) {
  return p2p::buffered_send(comm, buf, count, datatype, dest, tag);
}
Error Ibsend(const void* buf, MPI_Count count, const Datatype& datatype, int dest, int tag, Comm& comm,
             MPI_Request* request) {
  Request& done = p2p::null_request(false);  // the copy is made: done at once
  const auto send = [&] {
    try {
      return p2p::buffered_send(comm, buf, count, datatype, dest, tag);
    } catch (const std::bad_alloc&) {
      p2p::give_back(done);
      throw;
    }
  };
  if (Error e = send()) {
    p2p::give_back(done);
    return e;
  }
  *request = handle_of<MPI_Request>(done);
  return success;
}

Error Buffer_attach(void* buffer, MPI_Count size) { return attach(slot_of_process(), buffer, size); }
Error Buffer_detach(void* address, CountOut size) { return detach(slot_of_process(), address, size); }
Error Buffer_flush() { return flush(slot_of_process()); }
Error Buffer_iflush(MPI_Request* request) { return start_flush(slot_of_process(), request); }

Error Comm_attach_buffer(Comm& comm, void* buffer, MPI_Count size) { return attach(comm.buffer, buffer, size); }
Error Comm_detach_buffer(Comm& comm, void* address, CountOut size) { return detach(comm.buffer, address, size); }
Error Comm_flush_buffer(Comm& comm) { return flush(comm.buffer); }
Error Comm_iflush_buffer(Comm& comm, MPI_Request* request) { return start_flush(comm.buffer, request); }

Error Session_attach_buffer(Session& session, void* buffer, MPI_Count size) {
  return attach(session.buffer, buffer, size);
}
Error Session_detach_buffer(Session& session, void* address, CountOut size) {
  return detach(session.buffer, address, size);
}
Error Session_flush_buffer(Session& session) { return flush(session.buffer); }
Error Session_iflush_buffer(Session& session, MPI_Request* request) { return start_flush(session.buffer, request); }

}  // namespace heddle::mpi
