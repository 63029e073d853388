// The sending side: a partition leaves as soon as it is marked ready. Marking is the isend, by the marking thread, so
// that threads which finish their partitions at different times do not contend here; the one that marks the last begins
// to poll for the end. Partitions that follow each other have a count of their own, so that threads write no common line for each.
#pragma once

#include <atomic>
#include <memory>

#include "base/platform/platform.hpp"
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

  static constexpr int most_counts = 64;
  struct alignas(platform::cache_line) Count {
    std::atomic<int> left{0};
  };
  int per_count() const { return (partitions() + most_counts - 1) / most_counts; }
  int counts() const { return (partitions() + per_count() - 1) / per_count(); }

  std::unique_ptr<Slot[]> slots_;
  std::unique_ptr<Count[]> counts_;
  int waiting_ = 0;  // slots before this one have been collected
  const Tags tags_;
  std::uint32_t first_tag_;
  Count unfinished_;  // of counts that are not zero
};

}  // namespace heddle::partitioned
