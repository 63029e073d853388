// mpiexec's side of the shared segment: makes it and describes the job in it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "launch/boot/job.hpp"

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
  boot::RankRecord* records = nullptr;  // of the ranks that this mpiexec starts, which it numbers from 0 on
  int ranks = 0;                        // how many
  int first_here = 0;                   // the segment's number of the first of them
  int first_rank = 0;                   // and the job's (-join)
};

// Facts of the machine for the ranks: JobHeader::usable_cores and wake_up.
struct MachineFacts {
  int usable_cores;
  std::int64_t wake_up;
};

// The nodes of a job's ranks.
struct NodeMap {
  std::vector<int> first_ranks;  // of each node, and behind them the number of ranks
  int here = all_nodes;          // the node whose ranks we start, and whose memory the segment has
  lln::Secret secret;            // of the job
  std::uint64_t key = 0;         // and distinguishes jobs

  static constexpr int all_nodes = -1;
  int first_here() const { return here == all_nodes ? 0 : first_ranks[static_cast<std::size_t>(here)]; }
};
// For ranks that are all on this machine, on so many simulated nodes.
NodeMap pretended_nodes(int nodes, int ranks);

// `plan` of the ranks that we start; with room for ranks that are spawned if it `grows`. Throws std::system_error.
Segment make_segment(const std::vector<RankPlan>& plan, const MachineFacts& machine, int universe_size,
                     const NodeMap& nodes, bool grows);

// The number started so far, with those that were spawned.
inline int ranks_here(const Segment& segment) {
  return segment.ranks + segment.header->spawned.load(std::memory_order_acquire);
}

// "rank 3", or "rank 1 of spawned group 2".
std::string rank_text(const Segment& segment, int rank);

}  // namespace heddle::mpiexec
