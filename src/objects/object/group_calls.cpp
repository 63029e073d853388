// MPI_Group_*: the algebra of groups (MPI 5.0, section 7.3), on world ranks.
#include <algorithm>
#include <vector>

#include "objects/binding/impl.hpp"
#include "objects/object/comm.hpp"
#include "objects/object/group.hpp"
#include "objects/object/resolve.hpp"
#include "objects/object/tables.hpp"

namespace heddle::mpi {

namespace {

Error give(std::vector<int> world_ranks, const Group& parent, MPI_Group* out) {
  *out = MPI_GROUP_EMPTY;
  if (world_ranks.empty()) return success;
  Group* group = make_group(current_rank(), std::move(world_ranks));
  set_session(*group, parent.session);
  *out = handle_of<MPI_Group>(*group);
  return success;
}

std::vector<int> members(const Group& group) {
  std::vector<int> world_ranks(static_cast<std::size_t>(group.size));
  for (int r = 0; r < group.size; ++r) world_ranks[static_cast<std::size_t>(r)] = group.world_rank(r);
  return world_ranks;
}

// Members of `group` that are (or are not) in `other`, in the order of `group`.
std::vector<int> filter(const Group& group, const Group& other, bool in_other) {
  const RankFinder find(other);
  std::vector<int> result;
  for (int r = 0; r < group.size; ++r) {
    const int world_rank = group.world_rank(r);
    if ((find(world_rank) != MPI_UNDEFINED) == in_other) result.push_back(world_rank);
  }
  return result;
}

// Collects ranks of a group, each at most once.
class Selection {
 public:
  explicit Selection(const Group& group) : group_(group), chosen_(static_cast<std::size_t>(group.size)) {}

  Error add(int rank, const char* array, int index) {
    if (rank < 0 || rank >= group_.size)
      return fail(MPI_ERR_RANK, "%s[%d] gives rank %d, but the group has %d processes", array, index, rank,
                  group_.size);
    if (chosen_[static_cast<std::size_t>(rank)])
      return fail(MPI_ERR_RANK, "%s[%d] gives rank %d a second time", array, index, rank);
    chosen_[static_cast<std::size_t>(rank)] = true;
    order_.push_back(rank);
    return success;
  }

  Error add(const int* ranks, int n) {
    for (int i = 0; i < n; ++i) {
      if (Error e = add(ranks[i], "ranks", i)) return e;
    }
    return success;
  }

  // Triplets of first rank, last rank and stride.
  Error add(const int (*ranges)[3], int n) {
    for (int i = 0; i < n; ++i) {
      const auto [first, last, stride] = ranges[i];
      if (stride == 0) return fail(MPI_ERR_ARG, "ranges[%d] has a stride of 0", i);
      for (long long rank = first; stride > 0 ? rank <= last : rank >= last; rank += stride) {
        if (Error e = add(static_cast<int>(rank), "ranges", i)) return e;
      }
    }
    return success;
  }

  std::vector<int> included() const {
    std::vector<int> world_ranks;
    for (int rank : order_) world_ranks.push_back(group_.world_rank(rank));
    return world_ranks;
  }

  std::vector<int> excluded() const {
    std::vector<int> world_ranks;
    for (int rank = 0; rank < group_.size; ++rank) {
      if (!chosen_[static_cast<std::size_t>(rank)]) world_ranks.push_back(group_.world_rank(rank));
    }
    return world_ranks;
  }

 private:
  const Group& group_;
  std::vector<bool> chosen_;
  std::vector<int> order_;
};

}  // namespace

Error Group_size(Group& group, int* size) {
  *size = group.size;
  return success;
}

Error Group_rank(Group& group, int* rank) {
  *rank = group.rank;
  return success;
}

Error Group_translate_ranks(Group& group1, int n, const int ranks1[], Group& group2, int ranks2[]) {
  const RankFinder find(group2);
  for (int i = 0; i < n; ++i) {
    const int rank = ranks1[i];
    if (rank == MPI_PROC_NULL) {
      ranks2[i] = MPI_PROC_NULL;
    } else if (rank < 0 || rank >= group1.size) {
      return fail(MPI_ERR_RANK, "ranks1[%d] is %d, but group1 has %d processes", i, rank, group1.size);
    } else {
      ranks2[i] = find(group1.world_rank(rank));
    }
  }
  return success;
}

Error Group_compare(Group& group1, Group& group2, int* result) {
  *result = compare(group1, group2);
  return success;
}

Error Group_union(Group& group1, Group& group2, MPI_Group* newgroup) {
  std::vector<int> all = members(group1);
  const std::vector<int> more = filter(group2, group1, false);
  all.insert(all.end(), more.begin(), more.end());
  return give(std::move(all), group1, newgroup);
}

Error Group_intersection(Group& group1, Group& group2, MPI_Group* newgroup) {
  return give(filter(group1, group2, true), group1, newgroup);
}

Error Group_difference(Group& group1, Group& group2, MPI_Group* newgroup) {
  return give(filter(group1, group2, false), group1, newgroup);
}

Error Group_incl(Group& group, int n, const int ranks[], MPI_Group* newgroup) {
  Selection selection(group);
  if (Error e = selection.add(ranks, n)) return e;
  return give(selection.included(), group, newgroup);
}

Error Group_excl(Group& group, int n, const int ranks[], MPI_Group* newgroup) {
  Selection selection(group);
  if (Error e = selection.add(ranks, n)) return e;
  return give(selection.excluded(), group, newgroup);
}

Error Group_range_incl(Group& group, int n, int ranges[][3], MPI_Group* newgroup) {
  Selection selection(group);
  if (Error e = selection.add(ranges, n)) return e;
  return give(selection.included(), group, newgroup);
}

Error Group_range_excl(Group& group, int n, int ranges[][3], MPI_Group* newgroup) {
  Selection selection(group);
  if (Error e = selection.add(ranges, n)) return e;
  return give(selection.excluded(), group, newgroup);
}

Error Group_free(MPI_Group* group) {
  // MPI_GROUP_EMPTY may be freed like any group; it stays.
  if (*group != MPI_GROUP_EMPTY) retire(*object(*group));
  *group = MPI_GROUP_NULL;
  return success;
}

Error Comm_group(Comm& comm, MPI_Group* group) {
  *group = handle_of<MPI_Group>(*copy_of(*comm.local_group));
  return success;
}

Error Comm_remote_group(Comm& comm, MPI_Group* group) {
  *group = handle_of<MPI_Group>(*copy_of(*comm.remote_group));
  return success;
}

}  // namespace heddle::mpi
