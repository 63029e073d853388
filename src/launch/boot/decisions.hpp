// Decides for communicators with members on several nodes, whose members share no memory to agree in (ft/): one process
// of the job receives all proposals and all failures in one order, and decides by that order alone. It sends each
// decision as news, which every node's segment gets in the same order (news.hpp). Under mpiexec that process is
// mpiexec.
//
// An agreement is complete when each member has contributed to it or has failed; a member that has done both counts if
// the contribution came first. Only this process decides, so there is nothing to repair if a member dies during an
// agreement; and since the failures that a decision counts were sent before it, each member knows them when it reads
// the decision.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "launch/boot/launched/frame.hpp"

namespace heddle::boot {

// A member's contribution to an agreement.
struct Contribution {
  enum class Operation : std::uint32_t { agree, shrink };
  Operation operation;
  std::int32_t flag;           // of an agree
  std::uint32_t acknowledged;  // failures of the communicator that the member has acknowledged
  std::uint64_t context;       // for the communicator that a shrink makes, if this member is its first
};

// A member's view of the communicator: `members` are ranks of the job.
struct Proposer {
  int rank;
  std::uint64_t context;
  std::span<const int> members;
};
Frame proposal_to_agree(const Proposer& proposer, std::uint32_t number, const Contribution& contribution);
Frame proposal_to_revoke(const Proposer& proposer);
Frame word_of_leaving(int rank, std::uint64_t context);

class Decisions {
 public:
  // `tell` is called with each piece of news.
  explicit Decisions(std::function<void(const Frame&)> tell) : tell_(std::move(tell)) {}

  // In the order of arrival. A malformed frame, and a contribution of a failed rank, are dropped.
  void hear(const Frame& frame);
  // A rank has failed and sends nothing any more.
  void lose(int rank);

 private:
  struct Comm {
    std::vector<int> members;
    std::set<int> left;  // members that have freed it
    bool revoked = false;
    std::map<std::uint32_t, std::map<int, Contribution>> open;  // incomplete agreements: by number, by rank
  };

  Comm& comm_of(std::uint64_t context, std::vector<int> members);
  void decide(std::uint64_t context, Comm& comm);
  bool is_over(const Comm& comm, const std::map<int, Contribution>& contributions) const;
  Frame outcome(std::uint64_t context, const Comm& comm, std::uint32_t number,
                const std::map<int, Contribution>& contributions) const;
  bool is_used(const Comm& comm) const;

  std::function<void(const Frame&)> tell_;
  std::map<std::uint64_t, Comm> comms_;
  std::vector<int> failed_;  // in order
  std::set<int> gone_;       // the same
};

}  // namespace heddle::boot
