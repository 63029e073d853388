// Partitioned communication (MPI 5.0, chapter 4): a persistent message whose parts are sent as they become ready, by
// any thread, and may be used as they arrive. Here: the common part of its two sides.
//
// The sides are matched once, in the order of their init calls: the sender introduces itself with a message of the
// program's tag on the partitioned plane, which gives its partitions and the tags of its data. From then on each of the
// sender's partitions travels on its own, whatever the receiver's partitions are; one of those has arrived when
// all of the sender's that overlap it have. Short ones inside a node go through a board (board.hpp), the others as messages.
//
// Progress polls an operation from one thread at a time; Pready and Parrived come from any.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/node/heap.hpp"
#include "base/platform/platform.hpp"
#include "base/progress/pollables.hpp"
#include "base/progress/shortage.hpp"
#include "messaging/p2p/p2p.hpp"
#include "objects/datatype/reference.hpp"
#include "objects/object/comm.hpp"
#include "objects/object/error.hpp"
#include "objects/object/request.hpp"

namespace heddle::partitioned {

struct Introduction {
  std::uint32_t first_tag;
  std::int32_t partitions;
  std::uint64_t bytes;  // of one partition
  node::Offset board;   // nowhere: partitions come as messages
};

// The tags of the messages of a sender's partitions, counted from its first one. Threads usually have partitions that follow each other, and
// tags that follow each other have different lanes (messaging/p2p/lanes.hpp). So the partitions are divided into as many blocks as there are
// lanes, and each block has the tags of one lane.
class Tags {
 public:
  Tags(const Rank& rank, int partitions);
  int of(std::uint32_t first_tag, int partition) const;
  std::uint32_t count() const { return of_block_ * blocks_; }

 private:
  std::uint32_t blocks_;
  std::uint32_t of_block_;  // partitions
};

// Counts, over all rounds, the partitions that threads have marked or read. Partitions that follow each other have a count of their own,
// so that threads write no common line for each, and no thread resets what the others have written.
class PartitionCounts {
 public:
  explicit PartitionCounts(int partitions);
  // Each partition once a round. True for the last one: the caller acquires what all threads of the round have released here.
  bool count(int partition, std::uint32_t round);

 private:
  static constexpr int most_counts = 64;
  static constexpr int fewest_per_count = 32;
  struct alignas(platform::cache_line) Count {
    std::atomic<std::uint32_t> n{0};
  };

  int partitions_;
  int per_count_;
  int counts_;
  std::unique_ptr<Count[]> count_;
  Count whole_;  // counts that have come to the end of a round
};

// The message that introduces a sender, on either side. Either side may end before it has left or come, and then it
// lives until that happens: it takes part in matching in any case.
struct Letter final : progress::Pollable {
  Introduction content{};
  Request* message = nullptr;
  node::Heap* unused_board_in =
      nullptr;  // the receiver has ended before it learned of the board: its share is given back

  // Also ends it, when the message is done.
  bool poll() override;
  // The operation needs it no longer.
  static void leave(std::unique_ptr<Letter> letter, Rank& rank);
};

// The arguments of an init call.
struct Arguments {
  void* buffer;
  int partitions;
  MPI_Count count;  // of one partition
  const Datatype& datatype;
  int peer;  // or MPI_PROC_NULL
  int tag;
  Comm& comm;
};

// The request of an operation whose construction may fail.
struct GiveRequestBack {
  void operator()(Request* request) const;
};
using TakenRequest = std::unique_ptr<Request, GiveRequestBack>;

class Operation : public progress::Pollable {
 public:
  // Makes the operation of an init call from its arguments, and returns its request. Throws std::bad_alloc.
  template <class Side>
  static Request& make(const Arguments& args) {
    TakenRequest request(&p2p::take_request(Side::type));
    (void)new Side(args, *request);  // the request's
    return *request.release();
  }

  Operation(const Arguments& args, Request& request);
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  Request& request() const { return request_; }
  int partitions() const { return partitions_; }

  // Begins a round. Nothing of the previous round is in progress.
  virtual void start() = 0;

  bool poll() final;
  // For the completed round: that of its first message that failed.
  Error error() const;

  virtual ~Operation();

 protected:
  // Goes as far as possible without waiting; true when the round is over. One thread at a time. Throws std::bad_alloc,
  // and can be called again then.
  virtual bool advance() = 0;

  void begin_round();
  // Advances now, and in every progress pass until the round is over. The caller's last access: the operation may be
  // destroyed when this returns.
  void launch();
  // Keeps the first error of the round.
  void note(int error);
  // Notes the error of a message that is done, and ends its request.
  void collect(Request& message);

  std::byte* element(MPI_Count index) const;  // of the buffer
  std::size_t partition_bytes() const { return packed_size(*datatype_, count_); }
  std::size_t bytes() const { return partition_bytes() * static_cast<std::size_t>(partitions_); }
  Comm& comm() const { return comm_; }
  const Datatype& datatype() const { return *datatype_; }
  MPI_Count count() const { return count_; }
  int peer() const { return peer_; }
  int tag() const { return tag_; }

 private:
  [[noreturn]] void end_job() const;

  // Every thread reads this, while progress writes what is before it.
  alignas(platform::cache_line) Comm& comm_;  // a reference
  Request& request_;
  void* buffer_;
  int partitions_;
  MPI_Count count_;
  datatype::Reference datatype_;
  int peer_;
  int tag_;
  int error_ = MPI_SUCCESS;  // the first of this round
  progress::Shortage shortage_;
};

}  // namespace heddle::partitioned
