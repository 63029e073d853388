// The input of the report of a job that hangs: the ranks of a node, from the job's segment.
//
// Both mpiexec and a rank's own library make one (launched/report.cpp), so the segment may be mapped in part only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "launch/boot/job.hpp"

namespace heddle::boot {

struct RanksView {
  const JobHeader* header = nullptr;
  const RankRecord* records = nullptr;  // of the first rank; the others follow
  int first = 0;                        // the job's number of that one
  std::vector<int> processes;           // by rank, from the first on; 0: it has ended, and is left out of the report
  std::function<int(int)> number;       // the user's number of a rank, by its place in `processes`
  // Copies so many bytes of the nodes' memory, from node 0's on. False: it cannot be read.
  std::function<bool(std::uint64_t, void*, std::size_t)> read;
  bool names_host = false;  // the job has several nodes

  int ranks() const { return static_cast<int>(processes.size()); }
};

}  // namespace heddle::boot
