// Buffered sends (MPI 5.0, section 3.6): the message is copied into memory that the user attached to the communicator,
// to its session or to the process, or into memory of our own where the user attached MPI_BUFFER_AUTOMATIC, and sent from there.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>

#include "base/threads/mutex.hpp"
#include "objects/object/comm.hpp"
#include "objects/object/error.hpp"
#include "objects/object/request.hpp"

namespace heddle::p2p {

class SendBuffer {
 public:
  // `base` may be MPI_BUFFER_AUTOMATIC.
  SendBuffer(void* base, MPI_Count size) : base_(base), size_(size) {}

  Error send(Comm& comm, const void* buffer, MPI_Count count, const Datatype& datatype, int peer, int tag);
  // The number of messages copied here so far: separates those that a flush waits for from later ones.
  std::uint64_t copied();
  // True if the first `copied` messages have left; polls once. Nothing: unknown, since another thread has the buffer.
  std::optional<bool> left(std::uint64_t copied);
  // Blocks until the messages that are here now have left. Other threads go on sending meanwhile: the receiver of these
  // may wait for one of theirs.
  void flush();

  void* base() const { return base_; }
  MPI_Count size() const { return size_; }

 private:
  struct Block {
    std::size_t begin;
    std::size_t end;
    std::uint64_t serial;  // of the message, in the order of copying
    Request* request = nullptr;
    int pins = 0;                      // threads that wait for the request or test it, outside the mutex: it stays
    std::unique_ptr<std::byte[]> own;  // automatic buffering
  };

  using Guard = std::unique_lock<threads::Mutex>;

  bool automatic() const { return base_ == MPI_BUFFER_AUTOMATIC; }
  using Blocks = std::list<Block>;
  bool has_left(const Block& block) const {
    return block.pins == 0 && block.request->done.load(std::memory_order_acquire) != 0;
  }
  // For a message that has left or was never begun: its place is free.
  Blocks::iterator erase(Blocks::iterator block);
  // Erases those that have left: all, or of the next two in turn, so that a send does not pay for all that are here.
  void reap();
  void reap_next();
  // The first message before `mark` that has not left; the end if there is none. Erases those that have left.
  Blocks::iterator first_before(std::uint64_t mark);
  // First gap of that size; the end of the buffer if there is none.
  Blocks::iterator find_room(std::size_t bytes, std::size_t& begin);
  // A place for a message of `bytes`, if need be after received messages give up theirs. False: none.
  bool make_room(Guard& guard, std::size_t bytes, Block& block, Blocks::iterator& place);
  // Polls for the messages that are here, without the mutex meanwhile. False: none is left that could still leave.
  bool poll(Guard& guard);

  void* base_;
  MPI_Count size_;
  threads::Mutex flushing_;  // a request is waited for by one thread at a time
  threads::Mutex mutex_;     // guards the members below
  std::uint64_t copied_ = 0;
  Blocks blocks_;                           // in order of place
  Blocks::iterator turn_ = blocks_.end();   // of reap_next()
  std::size_t free_begin_ = 0;              // behind the last message: the rest is free up to ...
  Blocks::iterator taken_ = blocks_.end();  // ... this block
};

// Through the buffer of the communicator, or else of its session, or else of the process.
Error buffered_send(Comm& comm, const void* buffer, MPI_Count count, const Datatype& datatype, int peer, int tag);

}  // namespace heddle::p2p
