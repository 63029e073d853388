// Broadcast: a binomial tree; for long messages the root deals out slices, which all then exchange (van de Geijn).
//
// Members may describe the message by different datatypes of the same signature, so only its bytes decide and slices
// are cut from the packed stream.
#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/choose.hpp"

namespace heddle::coll {

namespace {

void bcast_tree(const Team& team, const BufferView& message, int root) {
  const int me = team.down(root);
  int stride = 1;  // this member's distance from its parent, above its children's
  while (stride < team.size && !(me & stride)) stride *= 2;
  if (me != 0) {
    team.recv(message, team.down(stride));
    team.fence();
  }
  for (int d = stride / 2; d > 0; d /= 2) {
    if (me + d < team.size) team.send(message, team.up(d));
  }
}

// The root has all slices already, so they are divided among the other members.
void bcast_slices(const Team& team, const BufferView& bytes, int root) {
  const auto slice_of = [&](int member) {
    return even_slice(bytes, (member - root + team.size) % team.size - 1, team.size - 1);
  };
  if (team.rank == root) {
    for (int d = 1; d < team.size; ++d) team.send(slice_of(team.up(d)), team.up(d));
    return;
  }
  team.recv(slice_of(team.rank), root);
  team.fence();
  for (int d = 1; d < team.size; ++d) {
    if (team.down(d) != root) team.recv(slice_of(team.down(d)), team.down(d));
    if (team.up(d) != root) team.send(slice_of(team.rank), team.up(d));
  }
}

}  // namespace

void bcast(const Team& team, const BufferView& message, int root) {
  if (team.size == 1 || message.empty()) return;
  if (!choose::bcast_scatters(message.bytes(), team.size)) return bcast_tree(team, message, root);
  if (message.type->dense) {
    return bcast_slices(team, raw(run_start(*message.type, message.data), message.bytes()), root);
  }
  const BufferView packed = team.raw_room(message.bytes());
  if (team.rank == root) team.copy(message, packed);
  bcast_slices(team, packed, root);
  if (team.rank == root) return;
  team.fence();
  team.copy(packed, message);
}

}  // namespace heddle::coll
