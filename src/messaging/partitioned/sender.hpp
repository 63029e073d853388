// The sending side: a partition leaves as soon as it is marked ready. Marking is the isend, by the marking thread, so
// that threads which finish their partitions at different times do not contend here; the one that marks the last begins
// to poll for the end.
#pragma once

#include <atomic>
#include <memory>

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
  // A partition of this round. `message` is written by the thread that marks, and read once all are marked.
  struct Slot {
    std::atomic<bool> marked{false};
    Request* message = nullptr;
  };

  bool advance() override;
  Error mark(int partition);
  Request& send(int partition) const;

  std::unique_ptr<Slot[]> slots_;
  std::atomic<int> unmarked_{0};
  int waiting_ = 0;  // slots before this one have been collected
  std::uint32_t first_tag_;
};

}  // namespace heddle::partitioned
