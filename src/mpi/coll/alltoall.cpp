// All-to-all in all variants: Bruck's algorithm for small equal blocks, otherwise direct messages, a window at a time,
// each starting at another member.
#include <algorithm>
#include <vector>

#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/choose.hpp"

namespace heddle::coll {

namespace {

// Block i of the held ones is on its way to the member i further. In the round of bit k those with that bit set travel
// 2^k members on; after all rounds block i has come from the member i behind. (Bruck et al., 1997)
void alltoall_bruck(const Team& team, const Blocks& from, const Blocks& to) {
  const auto each = static_cast<MPI_Count>(from[0].bytes());
  const auto room = [&] { return team.raw_room(static_cast<std::size_t>(each * team.size)); };
  const BufferView hold = room(), out = room(), in = room();
  for (int d = 0; d < team.size; ++d) team.copy(from[team.up(d)], hold.part(each * d, each));
  for (int bit = 1; bit < team.size; bit *= 2) {
    const auto for_moving = [&](auto&& f) {
      int n = 0;
      for (int i = bit; i < team.size; ++i) {
        if (i & bit) f(hold.part(each * i, each), n++);
      }
      return n;
    };
    const int n = for_moving([&](const BufferView& block, int k) { team.copy(block, out.part(each * k, each)); });
    team.recv(in.part(0, each * n), team.down(bit));
    team.send(out.part(0, each * n), team.up(bit));
    team.fence();
    for_moving([&](const BufferView& block, int k) { team.copy(in.part(each * k, each), block); });
  }
  for (int d = 0; d < team.size; ++d) team.copy(hold.part(each * d, each), to[team.down(d)]);
}

}  // namespace

void alltoall(const Team& team, const Blocks& from, const Blocks& to) {
  if (from.is_regular() && choose::alltoall_by_bruck(from[0].bytes(), team.size)) {
    return alltoall_bruck(team, from, to);
  }
  team.copy(from[team.rank], to[team.rank]);
  for (int d = 1; d < team.size; d += choose::window) {
    const int end = std::min(d + choose::window, team.size);
    for (int i = d; i < end; ++i) {
      const BufferView block = to[team.down(i)];
      if (!block.empty()) team.recv(block, team.down(i));
    }
    for (int i = d; i < end; ++i) {
      const BufferView block = from[team.up(i)];
      if (!block.empty()) team.send(block, team.up(i));
    }
    team.fence();
  }
}

// Receives may overwrite data to be sent, so those leave from packed copies. The own block stays unchanged.
void alltoall_of_copies(const Team& team, const Blocks& from, const Blocks& to) {
  std::vector<BufferView> copies(static_cast<std::size_t>(team.size), raw(nullptr, 0));
  for (int i = 0; i < team.size; ++i) {
    const BufferView block = from[i];
    if (i == team.rank || block.empty()) continue;
    copies[static_cast<std::size_t>(i)] = team.raw_room(block.bytes());
    team.copy(block, copies[static_cast<std::size_t>(i)]);
  }
  for (int i = 0; i < team.size; ++i) {
    const BufferView block = to[i];
    if (i != team.rank && !block.empty()) team.recv(block, i);
  }
  for (int i = 0; i < team.size; ++i) {
    const BufferView& copy = copies[static_cast<std::size_t>(i)];
    if (!copy.empty()) team.send(copy, i);
  }
}

// A block leaves through a packed copy. In step s the members whose ranks add up to s (modulo the size) exchange, so
// both ends of a pair exchange in the same step.
void alltoall_in_place(const Team& team, const Blocks& blocks) {
  std::size_t largest = 0;
  for (int i = 0; i < team.size; ++i) largest = std::max(largest, i == team.rank ? 0 : blocks[i].bytes());
  if (largest == 0) return;
  const BufferView hold = team.raw_room(largest);
  for (int step = 0; step < team.size; ++step) {
    const int peer = (step - team.rank + team.size) % team.size;
    const BufferView block = blocks[peer];
    if (peer == team.rank || block.empty()) continue;
    const BufferView out = hold.part(0, static_cast<MPI_Count>(block.bytes()));
    team.copy(block, out);
    team.recv(block, peer);
    team.send(out, peer);
    team.fence();
  }
}

}  // namespace heddle::coll
