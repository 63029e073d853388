// The nodes of a communicator's members, where there are several, some with several members. All members number the
// nodes alike: in the order of the lowest rank on each, which is its leader.
#pragma once

#include <vector>

#include "objects/object/comm.hpp"

namespace heddle::coll {

struct Nodes {
  std::vector<int> node_of;  // by rank
  std::vector<int> leaders;  // a rank for each node
  std::vector<int> local;    // the ranks on the caller's node, ascending
  int here;                  // the caller's node
  int place;                 // the caller's, in `local`
  bool consecutive;          // ranks are ordered by node, so that a reduction by nodes keeps their order

  // `rank`: of the caller, of `size`. `where(r)` is any number that identifies rank r's node.
  template <class Where>
  Nodes(int rank, int size, Where&& where) {
    node_of.reserve(static_cast<std::size_t>(size));
    for (int r = 0; r < size; ++r) node_of.push_back(where(r));
    number(rank);
  }
  // Otherwise leaders are of no use: all members are on one node, or each is alone on its node.
  bool are_worth_leaders() const { return leaders.size() > 1 && leaders.size() < node_of.size(); }

 private:
  void number(int rank);
};

// Null: all members are on one node, or each is alone on its node, or it is an intercommunicator. The first call for a
// communicator may throw std::bad_alloc.
const Nodes* nodes_of(Comm& comm);

}  // namespace heddle::coll
