// Two-phase collective I/O (del Rosario, Bordawekar and Choudhary, "Improved Parallel I/O via a Two-phase Run-time
// Access Strategy", 1993; Thakur, Gropp and Lusk, 1999): some members, the aggregators, read and write large parts of
// the file, and exchange the data with the others by messages.
//
// The file is accessed in rounds. In each an aggregator has one window of it, and windows ascend, so that a member
// walks through its part once. An aggregator writes the given bytes and nothing else: the gaps are never read and
// written back, so that it cannot undo writes of other processes there.
#pragma once

#include <memory>
#include <vector>

#include "mpi/coll/schedule.hpp"
#include "mpi/io/flow.hpp"
#include "mpi/io/grid.hpp"
#include "mpi/io/operation.hpp"
#include "mpi/io/plan.hpp"
#include "mpi/io/written.hpp"

namespace heddle::io {

class TwoPhase {
 public:
  // `executor`: for a nonblocking operation; null: the caller does its I/O itself. All members construct theirs in the
  // same order, which is that of the program's calls. Their flows advance in any order.
  TwoPhase(Operation& operation, Executor* executor);

  // All of it, from the exchange of the members' parts to the result of the operation. It lives as long as this.
  Flow flow();

 private:
  static constexpr int tags = 4;  // of one operation

  // A member's part of an aggregator's window; the beginning of the message that describes it.
  struct Head {
    std::int64_t grids = 0;
    std::int64_t bytes = 0;
    Grid first{};
  };
  struct Piece {
    int rank = 0;  // of the other side
    Head head{};
    Grids grids{};              // the member's side
    std::vector<Grid> given{};  // the aggregator's side
    std::size_t stream = 0;     // the member's side: of its buffer's packed stream
    std::byte* data = nullptr;  // what is sent or received
    Request* received = nullptr;
    bool in_place = false;  // `data` is where it belongs
  };
  // Memory for a round, kept for the next.
  class Stage {
   public:
    std::byte* take(std::size_t bytes);
    void clear() { used_ = 0; }

   private:
    struct Chunk {
      std::unique_ptr<std::byte[]> memory;
      std::size_t size = 0;
    };
    std::vector<Chunk> chunks_;
    std::size_t used_ = 0;
  };

  // The steps of a round. They leave the requests for the next step in soon_, those for the end of the round in
  // requests_.
  void find_pieces(const Plan& plan, std::int64_t round);
  void tell_aggregators();
  void send_data();      // members of a write
  void receive_data();   // members of a read
  void receive_grids();  // aggregators
  void gather();         // aggregators of a write
  void take_own(const Piece& own);
  void put_in_place();
  void write_window();
  void read_window();  // aggregators of a read
  void scatter();
  void take_arrived();  // members of a read

  void submit(coll::TakenSchedule& reserved);
  void send(const void* data, std::size_t bytes, int to, int tag);
  Request& receive(void* data, std::size_t bytes, int from, int tag);
  void note(Error error) {
    if (error && failure_ == MPI_SUCCESS) failure_ = error.code();
  }
  std::byte* contiguous(std::size_t stream) const;
  std::byte* in_window(std::int64_t offset) { return buffer_.get() + (offset - window_.first); }
  bool is_aggregator() const { return window_.end > window_.first; }
  std::size_t valid_of(const Run& run) const;

  Operation& operation_;
  const Access access_;
  Comm& comm_;
  Executor* const executor_;
  const int tag_;

  const Part mine_;
  std::vector<Part> parts_;
  coll::TakenSchedule exchange_;   // of parts_
  coll::TakenSchedule agreement_;  // on error_number_
  std::vector<Request*> soon_;
  std::vector<Request*> requests_;
  FileRuns file_;
  std::size_t stream_ = 0;      // of the buffer, where file_ is
  std::vector<Piece> to_;       // this member's part in the aggregators' windows
  std::vector<Piece> from_;     // an aggregator: the other members' parts in its window
  const Piece* own_ = nullptr;  // of to_: its own
  Stage stage_;
  Window window_;                        // an aggregator's
  std::unique_ptr<std::byte[]> buffer_;  // ... what it has there
  std::unique_ptr<Written> written_;
  std::int64_t valid_end_ = 0;  // of a read: as far as the file has it

  std::size_t arrived_ = 0;  // of a read, without a gap
  bool ended_ = false;
  std::uint64_t error_number_ = 0;
  int failure_ = MPI_SUCCESS;  // of messages
};

}  // namespace heddle::io
