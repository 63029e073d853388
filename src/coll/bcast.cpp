// Broadcast: a binomial tree; for long messages the root deals out slices, which all then exchange (van de Geijn).
#include "coll/algorithms.hpp"
#include "coll/choose.hpp"

namespace heddle::coll {

namespace {

void bcast_tree(const Team& team, const Piece& message, int root) {
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

void bcast_slices(const Team& team, const Piece& message, int root) {
  const auto slice = [&](int i) { return even_slice(message, i, team.size); };
  if (team.rank == root) {
    for (int d = 1; d < team.size; ++d) team.send(slice(team.up(d)), team.up(d));
    return;  // the others have it from here
  }
  team.recv(slice(team.rank), root);
  team.fence();
  for (int d = 1; d < team.size; ++d) {
    if (team.down(d) != root) team.recv(slice(team.down(d)), team.down(d));
    if (team.up(d) != root) team.send(slice(team.rank), team.up(d));
  }
}

}  // namespace

void bcast(const Team& team, const Piece& message, int root) {
  if (team.size == 1 || message.empty()) return;
  if (choose::bcast_scatters(message.bytes(), team.size) && message.count >= team.size) {
    bcast_slices(team, message, root);
  } else {
    bcast_tree(team, message, root);
  }
}

}  // namespace heddle::coll
