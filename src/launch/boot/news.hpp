// Writes failures and decisions (decisions.hpp) into a segment, in the order of their arrival, and wakes the blocked
// ranks.
//
// One process writes to a segment, so nothing here is locked; a rank reads while it is written.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/node/node.hpp"
#include "launch/boot/decided.hpp"
#include "launch/boot/job.hpp"
#include "launch/boot/launched/frame.hpp"

namespace heddle::boot {

class News {
 public:
  // `bells`: those of the ranks on the nodes of the segment; `comms` is null if the job has one node.
  News(JobHeader& header, DecidedComms* comms, std::vector<node::Doorbell*> bells)
      : header_(header), comms_(comms), bells_(std::move(bells)) {}

  // Frames of other kinds are dropped.
  void take(const Frame& frame);

 private:
  void add_failure(int rank);
  DecidedComm* entry_of(std::uint64_t context);
  void revoke(std::uint64_t context);
  void decide(Fields& fields, std::uint64_t context);
  void forget(std::uint64_t context);
  void trouble();

  JobHeader& header_;
  DecidedComms* comms_;
  std::vector<node::Doorbell*> bells_;
};

}  // namespace heddle::boot
