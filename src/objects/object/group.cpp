#include "objects/object/group.hpp"

#include <algorithm>

#include "objects/object/resolve.hpp"
#include "objects/object/session.hpp"
#include "objects/object/tables.hpp"

namespace heddle {

Group* object(MPI_Group handle) {
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  if (value >= arena::first_user_handle) return live_object<Group>(value);
  return handle == MPI_GROUP_EMPTY ? current_rank().tables->empty_group : nullptr;
}

Group::~Group() {
  if (session) release(*session);
}

Group* make_group(const Rank& rank, std::vector<int> world_ranks) {
  const auto in_order = [&, i = 0](int world_rank) mutable { return world_rank == i++; };
  if (std::all_of(world_ranks.begin(), world_ranks.end(), in_order))
    return make_identity_group(rank, static_cast<int>(world_ranks.size()));
  Group* group = make_object<Group>();
  group->size = static_cast<int>(world_ranks.size());
  const auto self = std::find(world_ranks.begin(), world_ranks.end(), rank.world_rank);
  if (self != world_ranks.end()) group->rank = static_cast<int>(self - world_ranks.begin());
  group->world_ranks = std::move(world_ranks);
  return group;
}

Group* make_identity_group(const Rank& rank, int size) {
  Group* group = make_object<Group>();
  group->size = size;
  if (rank.world_rank < size) group->rank = rank.world_rank;
  return group;
}

Group* make_world_group(const Rank& rank) {
  if (!rank.job->is_renumbered() && rank.job->first_rank() == 0) return make_identity_group(rank, rank.world_size);
  std::vector<int> world_ranks(static_cast<std::size_t>(rank.world_size));
  for (int number = rank.job->first_rank(); number < rank.job->first_rank() + rank.world_size; ++number)
    world_ranks[static_cast<std::size_t>(rank.job->rank_in_world(number))] = number;
  return make_group(rank, std::move(world_ranks));
}

Group* copy_of(const Group& group) {
  Group* copy = make_object<Group>();
  copy->size = group.size;
  copy->rank = group.rank;
  copy->world_ranks = group.world_ranks;
  set_session(*copy, group.session);
  return copy;
}

void set_session(Group& group, Session* session) {
  if (session) retain(*session);
  group.session = session;
}

RankFinder::RankFinder(const Group& group) : identity_(group.world_ranks.empty()), size_(group.size) {
  if (identity_) return;
  const int largest = *std::max_element(group.world_ranks.begin(), group.world_ranks.end());
  ranks_.assign(static_cast<std::size_t>(largest) + 1, MPI_UNDEFINED);
  for (int r = 0; r < size_; ++r) ranks_[static_cast<std::size_t>(group.world_rank(r))] = r;
}

int compare(const Group& a, const Group& b) {
  if (a.size != b.size) return MPI_UNEQUAL;
  if (a.world_ranks == b.world_ranks) return MPI_IDENT;
  const RankFinder in_b(b);
  for (int r = 0; r < a.size; ++r) {
    if (in_b(a.world_rank(r)) == MPI_UNDEFINED) return MPI_UNEQUAL;
  }
  return MPI_SIMILAR;
}

}  // namespace heddle
