// mpiexec's side of the shared segment: makes it and describes the job in it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "boot/job.hpp"

namespace heddle::mpiexec {

struct RankPlan {
  int appnum;
  int app_ranks;
  int cores;
  bool bound;
};

struct Segment {
  int fd = -1;  // without close-on-exec: every rank inherits it
  boot::JobHeader* header = nullptr;
  boot::RankRecord* records = nullptr;
  int first_rank = 0;  // what the job calls the first of these (-join)
};

// What a rank must know of the machine: JobHeader::usable_cores and wake_up.
struct MachineFacts {
  int usable_cores;
  std::int64_t wake_up;
};

// For ranks that are, or pretend to be, on so many nodes; with room for ranks that are spawned if it `grows`. Throws std::system_error.
Segment make_segment(const std::vector<RankPlan>& plan, const MachineFacts& machine, int universe_size, int nodes,
                     bool grows);

// "rank 3", or "rank 1 of spawned group 2".
std::string rank_text(const Segment& segment, int rank);

}  // namespace heddle::mpiexec
