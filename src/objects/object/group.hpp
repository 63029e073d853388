// A group: an ordered set of the job's processes (MPI 5.0, section 7.3). Immutable once made. Communicators have
// their own, so that a user's handle dies when the user frees it.
#pragma once

#include <mpi.h>

#include <vector>

#include "objects/object/object.hpp"

namespace heddle {

struct Rank;
struct Session;

struct Group final : Object {
  static constexpr Kind object_kind = Kind::group;
  Group() : Object(Kind::group) {}
  ~Group();

  int size = 0;
  int rank = MPI_UNDEFINED;      // of the process that owns this object
  std::vector<int> world_ranks;  // by group rank; empty if the identity (then world rank == group rank)
  Session* session = nullptr;    // the session that it comes from, through groups and communicators; a reference

  int world_rank(int r) const { return world_ranks.empty() ? r : world_ranks[static_cast<std::size_t>(r)]; }
};

// Makes a group of these processes, named by world rank; the caller owns the reference. It may be empty.
Group* make_group(const Rank& rank, std::vector<int> world_ranks);
Group* make_identity_group(const Rank& rank, int size);
// The processes of MPI_COMM_WORLD.
Group* make_world_group(const Rank& rank);
Group* copy_of(const Group& group);
// A group that was just made comes from a session (which may be null).
void set_session(Group& group, Session* session);

// Translates world ranks to ranks of a group in constant time each; MPI_UNDEFINED for processes outside it.
class RankFinder {
 public:
  explicit RankFinder(const Group& group);
  int operator()(int world_rank) const {
    const auto at = static_cast<std::size_t>(world_rank);
    if (identity_) return world_rank < size_ ? world_rank : MPI_UNDEFINED;
    return at < ranks_.size() ? ranks_[at] : MPI_UNDEFINED;
  }

 private:
  bool identity_;
  int size_;
  std::vector<int> ranks_;  // by world rank
};

// MPI_IDENT, MPI_SIMILAR or MPI_UNEQUAL.
int compare(const Group& a, const Group& b);

}  // namespace heddle
