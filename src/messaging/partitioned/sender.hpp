// The sending side: a partition leaves as soon as it is marked ready. The marking thread writes it to the board or sends it, so
// that threads which finish their partitions at different times do not contend here; the one that marks the last begins
// to poll for the end.
//
// On a board a round ends when the receiver has read the previous one. So the slots of a round are free when it starts.
#pragma once

#include <atomic>
#include <memory>

#include "base/platform/platform.hpp"
#include "messaging/partitioned/board.hpp"
#include "messaging/partitioned/operation.hpp"

namespace heddle::partitioned {

class Sender final : public Operation {
 public:
  static const RequestType type;

  Sender(const Arguments& args, Request& request);

  void start() override;
  // Sends partitions [low, high]; they are in range. Any thread.
  Error ready(int low, int high);

 private:
  // A partition. `message` is written by the thread that marks, and read once all are marked.
  struct Slot {
    std::atomic<Round> marked{0};  // the last round in which it was
    Request* message = nullptr;
  };

  bool advance() override;
  Error mark(int partition);
  Request& send(int partition) const;
  void put(int partition) const;

  const std::unique_ptr<Slot[]> slots_;
  PartitionCounts marks_;
  const Tags tags_;
  const std::uint32_t first_tag_;
  const std::unique_ptr<Board> board_;  // null: by messages
  Round round_ = 0;
  int waiting_ = 0;  // slots before this one have been collected
};

}  // namespace heddle::partitioned
