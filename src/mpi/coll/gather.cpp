// Gather and scatter, in all variants: a binomial tree for small equal blocks, one message each otherwise.
//
// In the tree a member stands for the run of members [me, me + width) counted from the root, and the blocks of a
// run travel packed, in order. At the root a run may wrap around the end of the ranks; it is then two messages.
#include <algorithm>

#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/choose.hpp"

namespace heddle::coll {

namespace {

struct Node {
  int me;      // counted from the root
  int stride;  // distance from the parent; children are at smaller powers of two
  int width;

  Node(const Team& team, int root) : me(team.down(root)), stride(1) {
    while (stride < team.size && !(me & stride)) stride *= 2;
    width = width_at(team, me, stride);
  }
  static int width_at(const Team& team, int first, int stride) { return std::min(stride, team.size - first); }
};

// Calls f(first rank, how many, blocks before them) for the one or two runs of ranks that `n` members from `me` on,
// counted from the root, are.
template <class F>
void for_runs(const Team& team, int root, int me, int n, F&& f) {
  const int first = (root + me) % team.size;
  const int until_wrap = std::min(n, team.size - first);
  f(first, until_wrap, 0);
  if (n > until_wrap) f(0, n - until_wrap, until_wrap);
}

void gather_tree(const Team& team, const BufferView& mine, const Blocks& all, int root) {
  const Node node(team, root);
  if (node.me == 0) {
    for (int d = 1; d < team.size; d *= 2) {
      for_runs(team, root, d, Node::width_at(team, d, d),
               [&](int first, int n, int) { team.recv(all.run(first, n), team.up(d)); });
    }
    if (given(mine)) team.copy(mine, all[root]);
    return;
  }
  const std::size_t each = mine.bytes();
  BufferView hold = mine;
  if (node.width > 1) {
    hold = team.raw_room(each * static_cast<std::size_t>(node.width));
    const auto block = [&](int i, int n) {
      return hold.part(static_cast<MPI_Count>(each) * i, static_cast<MPI_Count>(each) * n);
    };
    for (int d = 1; d < node.stride && node.me + d < team.size; d *= 2) {
      team.recv(block(d, Node::width_at(team, node.me + d, d)), team.up(d));
    }
    team.copy(mine, block(0, 1));
    team.fence();
  }
  if (node.me != node.stride) {
    team.send(hold, team.down(node.stride));
    return;
  }
  for_runs(team, root, node.me, node.width, [&](int, int n, int before) {
    const MPI_Count share = hold.count / node.width;
    team.send(hold.part(share * before, share * n), root);
  });
}

void scatter_tree(const Team& team, const Blocks& all, const BufferView& mine, int root) {
  const Node node(team, root);
  if (node.me == 0) {
    for (int d = node.stride / 2; d > 0; d /= 2) {
      if (d >= team.size) continue;
      for_runs(team, root, d, Node::width_at(team, d, d),
               [&](int first, int n, int) { team.send(all.run(first, n), team.up(d)); });
    }
    if (given(mine)) team.copy(all[root], mine);
    return;
  }
  const auto each = static_cast<MPI_Count>(mine.bytes());
  const BufferView hold = node.width == 1 ? mine : team.raw_room(mine.bytes() * static_cast<std::size_t>(node.width));
  const auto block = [&](int i, int n) { return node.width == 1 ? mine : hold.part(each * i, each * n); };
  if (node.me == node.stride) {
    for_runs(team, root, node.me, node.width, [&](int, int n, int before) { team.recv(block(before, n), root); });
  } else {
    team.recv(hold, team.down(node.stride));
  }
  if (node.width == 1) return;
  team.fence();
  for (int d = node.stride / 2; d > 0; d /= 2) {
    if (node.me + d < team.size) team.send(block(d, Node::width_at(team, node.me + d, d)), team.up(d));
  }
  team.copy(block(0, 1), mine);
}

bool by_tree(const Team& team, const BufferView& mine, const Blocks& all, int root) {
  if (!all.is_regular()) return false;
  const BufferView block = team.rank == root ? all[root] : mine;
  return choose::gather_by_tree(block.bytes(), team.size);
}

}  // namespace

void gather(const Team& team, const BufferView& mine, const Blocks& all, int root) {
  if (by_tree(team, mine, all, root)) return gather_tree(team, mine, all, root);
  if (team.rank != root) {
    if (!mine.empty()) team.send(mine, root);
    return;
  }
  for (int d = 1; d < team.size; ++d) {
    const BufferView block = all[team.up(d)];
    if (!block.empty()) team.recv(block, team.up(d));
  }
  if (given(mine)) team.copy(mine, all[root]);
}

void scatter(const Team& team, const Blocks& all, const BufferView& mine, int root) {
  if (by_tree(team, mine, all, root)) return scatter_tree(team, all, mine, root);
  if (team.rank != root) {
    if (!mine.empty()) team.recv(mine, root);
    return;
  }
  for (int d = 1; d < team.size; ++d) {
    const BufferView block = all[team.up(d)];
    if (!block.empty()) team.send(block, team.up(d));
  }
  if (given(mine)) team.copy(all[root], mine);
}

}  // namespace heddle::coll
