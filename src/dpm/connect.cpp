// MPI_Comm_accept and MPI_Comm_connect (MPI 5.0, section 11.9.3).
//
// A port is a context of the process that has opened it. The root that connects says hello there, whenever it likes, and names a
// context of its own for the rest; the hello waits among the unexpected messages until the port's owner accepts. A port may be
// closed meanwhile, so who connects looks at the board while it waits.
#include <unistd.h>

#include <chrono>

#include "binding/impl.hpp"
#include "comm/exchange.hpp"
#include "comm/hints.hpp"
#include "comm/join_groups.hpp"
#include "dpm/board.hpp"
#include "dpm/everyone.hpp"
#include "dpm/port.hpp"
#include "object/context.hpp"
#include "object/faults.hpp"
#include "object/resolve.hpp"

namespace heddle {

namespace {

using dpm::Everyone;
using Clock = std::chrono::steady_clock;

struct Hello {
  int size;           // of the group
  Context offered;    // for the intercommunicator
  Context privately;  // where the two roots go on; of who connects
};

// An answer that was given before the port was closed is there by then.
constexpr std::chrono::milliseconds grace_of_answer{1000};
// Between two looks at whether an accept has come: often at first, then with the core left to others.
constexpr int looks_awake = 2000;
constexpr useconds_t between_looks = 200;

// Both roots: their groups.
Error swap_ranks(const Everyone& privately, int peer, const Group& local, Remote& remote) {
  remote.world_ranks.resize(static_cast<std::size_t>(remote.size));
  const std::vector<int> ours = world_ranks_of(local);
  return swap_bytes(privately.comm(), peer, dpm::tag_ranks, ours.data(), ours.size() * sizeof(int),
                    remote.world_ranks.data(), remote.world_ranks.size() * sizeof(int));
}

Error accept_one(Rank& rank, Context port, const Group& local, Context offered, Remote& remote) {
  Hello hello{};
  MPI_Status status;
  {
    const Everyone at_port(rank, port);
    if (Error e = at_port.recv(MPI_ANY_SOURCE, dpm::tag_hello, &hello, sizeof hello, &status)) return e;
  }
  const Everyone privately(rank, hello.privately);
  const Hello answer{local.size, offered, 0};
  if (Error e = privately.send(status.MPI_SOURCE, dpm::tag_answer, &answer, sizeof answer)) return e;
  remote.size = hello.size;
  remote.offered = hello.offered;
  return swap_ranks(privately, status.MPI_SOURCE, local, remote);
}

// False: the port was closed before anybody has accepted.
bool wait_for_answer(Request& answer, const boot::Board& board, Context port) {
  Clock::time_point closed = Clock::time_point::max();
  for (int looks = 0; !p2p::test(answer); ++looks) {
    if (closed != Clock::time_point::max()) {
      if (Clock::now() - closed > grace_of_answer && p2p::cancel(answer)) return false;
    } else if (!dpm::is_open(board, port)) {
      closed = Clock::now();
    }
    if (looks > looks_awake) usleep(between_looks);
  }
  return true;
}

Error connect_to(Rank& rank, Context port, const Group& local, Context offered, Remote& remote) {
  const int owner = maker_of(port);
  const Hello hello{local.size, offered, fresh_context(rank)};
  const Everyone privately(rank, hello.privately);
  Hello answer{};
  Request& request = privately.irecv(owner, dpm::tag_answer, &answer, sizeof answer);
  {
    const Everyone at_port(rank, port);
    if (Error e = at_port.send(owner, dpm::tag_hello, &hello, sizeof hello)) return e;
  }
  const bool accepted = wait_for_answer(request, *rank.job->board(), port);
  p2p::give_back(request);
  if (!accepted) return fail(MPI_ERR_PORT, "the port was closed before anybody has accepted the connection");
  remote.size = answer.size;
  remote.offered = answer.offered;
  return swap_ranks(privately, owner, local, remote);
}

template <class Met>
Error meet_at(const char* port_name, int root, Comm& comm, MPI_Comm* newcomm, Met&& met_at_port) {
  Rank& rank = *comm.owner;
  *newcomm = MPI_COMM_NULL;
  int model = 0;
  if (Error e = choose_model(rank, *comm.local_group, nullptr, model)) return e;
  const auto met = [&](const Group& local, Context offered, Remote& remote) -> Error {
    Context port = 0;
    if (Error e = dpm::find_port(rank, port_name, port)) return e;
    return met_at_port(rank, port, local, offered, remote);
  };
  Comm* intercomm = nullptr;
  if (Error e = join_groups(comm, root, nullptr, model, met, intercomm)) return e;
  *newcomm = handle_of<MPI_Comm>(*intercomm);
  return success;
}

}  // namespace

namespace mpi {

// No info key means anything here.
Error Comm_accept(const char* port_name, const Info*, int root, Comm& comm, MPI_Comm* newcomm) {
  if (Error e = check_survivable(*comm.owner, "an intercommunicator")) return e;
  const auto accept = [&](Rank& rank, Context port, const Group& local, Context offered, Remote& remote) {
    if (maker_of(port) != rank.world_rank)
      return fail(MPI_ERR_PORT, "port_name is '%.100s', which another process has opened", port_name);
    return accept_one(rank, port, local, offered, remote);
  };
  return meet_at(port_name, root, comm, newcomm, accept);
}

Error Comm_connect(const char* port_name, const Info*, int root, Comm& comm, MPI_Comm* newcomm) {
  if (Error e = check_survivable(*comm.owner, "an intercommunicator")) return e;
  const auto connect = [&](Rank& rank, Context port, const Group& local, Context offered, Remote& remote) {
    if (maker_of(port) == rank.world_rank)
      return fail(MPI_ERR_PORT, "port_name is '%.100s', which this process itself has opened", port_name);
    return connect_to(rank, port, local, offered, remote);
  };
  return meet_at(port_name, root, comm, newcomm, connect);
}

}  // namespace mpi
}  // namespace heddle
