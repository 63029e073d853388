// Barrier by dissemination (Hensgen, Finkel and Manber, 1988): in round k each member signals the member 2^k further
// and waits for the one 2^k behind; after ceil(log2 size) rounds each has a signal, direct or indirect, from all.
#include "mpi/coll/algorithms.hpp"

namespace heddle::coll {

void barrier(const Team& team) {
  const BufferView signal = raw(nullptr, 0);
  for (int distance = 1; distance < team.size; distance *= 2) {
    team.recv(signal, team.down(distance));
    team.send(signal, team.up(distance));
    team.fence();
  }
}

}  // namespace heddle::coll
