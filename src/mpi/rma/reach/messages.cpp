#include "mpi/rma/reach/messages.hpp"

#include "launch/rank/rank.hpp"
#include "messaging/engine/blocked.hpp"
#include "messaging/p2p/p2p.hpp"

namespace heddle::rma::reach {

Messages::Messages(Comm& comm, std::byte* base, MPI_Aint size, bool dynamic)
    : origin(comm),
      exposure(comm),
      dynamic(dynamic),
      comm_(comm),
      service_(comm, {base, size, dynamic ? &attached : nullptr}) {
  p2p::begin_serving(*comm.owner);
  p2p::start_polling(*comm.owner, *this);
}

Messages::~Messages() {
  Rank& rank = *comm_.owner;
  ending_.store(true, std::memory_order_release);
  p2p::notify(rank, rank.world_rank);
  p2p::wait_until(rank, engine::wait_on(comm_, boot::Awaited::target_answer),
                  [this] { return ended_.load(std::memory_order_acquire); });
  p2p::end_serving(rank);
}

bool Messages::poll() {
  Rank& rank = *comm_.owner;
  const auto tell = [&rank] { p2p::notify(rank, rank.world_rank); };  // threads that wait for progress
  if (ending_.load(std::memory_order_acquire)) {
    if (!service_.end()) return false;
    ended_.store(true, std::memory_order_release);
    // From here on this may be destroyed.
    tell();
    return true;
  }
  const bool answered = origin.poll();
  if (service_.poll() || answered) tell();
  return false;
}

}  // namespace heddle::rma::reach
