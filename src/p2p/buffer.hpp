// Buffered sends (MPI 5.0, section 3.6): the message is copied into memory that the user attached to the communicator,
// to its session or to the process, or into memory of our own where the user attached MPI_BUFFER_AUTOMATIC, and sent from there.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>

#include "object/comm.hpp"
#include "object/error.hpp"
#include "object/request.hpp"

namespace heddle::p2p {

class SendBuffer {
 public:
  // `base` may be MPI_BUFFER_AUTOMATIC.
  SendBuffer(void* base, MPI_Count size) : base_(base), size_(size) {}

  Error send(Comm& comm, const void* buffer, MPI_Count count, const Datatype& datatype, int peer, int tag);
  // Whether every message that was ever copied here has left; looks once.
  bool empty();
  // Blocks until then.
  void flush();

  void* base() const { return base_; }
  MPI_Count size() const { return size_; }

 private:
  struct Block {
    std::size_t begin;
    std::size_t end;
    Request* request;
    std::unique_ptr<std::byte[]> own;  // automatic buffering
  };

  bool automatic() const { return base_ == MPI_BUFFER_AUTOMATIC; }
  void reap();
  // First gap of that size; the end of the buffer if there is none.
  std::list<Block>::iterator find_room(std::size_t bytes, std::size_t& begin);

  void* base_;
  MPI_Count size_;
  std::mutex mutex_;
  std::list<Block> blocks_;  // in order of place
};

// Through the buffer of the communicator, or else of its session, or else of the process.
Error buffered_send(Comm& comm, const void* buffer, MPI_Count count, const Datatype& datatype, int peer, int tag);

}  // namespace heddle::p2p
