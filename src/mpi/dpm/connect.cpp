// MPI_Comm_accept and MPI_Comm_connect (MPI 5.0, section 11.9.3).
//
// A port is a context of the process that has opened it. The connecting root sends a hello there, at any time, and
// names a context of its own for the rest; the hello waits among the unexpected messages until the port's owner
// accepts. A port may be closed meanwhile, so a connecting root polls the board while it waits, for a limited time. In
// the end it sends if it has got the answer or has given up, and the accepting root takes the next hello if this root
// has given up.
#include <unistd.h>

#include <charconv>
#include <chrono>

#include "mpi/comm/exchange.hpp"
#include "mpi/comm/hints.hpp"
#include "mpi/comm/join_groups.hpp"
#include "mpi/dpm/board.hpp"
#include "mpi/dpm/everyone.hpp"
#include "mpi/dpm/port.hpp"
#include "objects/binding/impl.hpp"
#include "objects/object/context.hpp"
#include "objects/object/faults.hpp"
#include "objects/object/info.hpp"
#include "objects/object/resolve.hpp"

namespace heddle {

namespace {

using dpm::Everyone;
using Clock = std::chrono::steady_clock;

enum class Presence : char { connected, gone };

struct Hello {
  int size;           // of the group
  Context offered;    // for the intercommunicator
  Context privately;  // the context where the two roots go on; the connecting root's
};

// An answer that was given before the port was closed is there by then.
constexpr std::chrono::milliseconds grace_of_answer{1000};
// The time limit of a connection that waits for an accept, and its maximum (a century, as it is added to the time of
// day).
constexpr std::chrono::seconds limit_by_default{180};
constexpr std::int64_t longest_limit = 3'000'000'000;
// Between two polls for an accept: frequent at first, then with yields.
constexpr int polls_spinning = 2000;
constexpr useconds_t between_polls = 200;

// Both roots: their groups.
Error swap_ranks(const Everyone& privately, int peer, const Group& local, Remote& remote) {
  remote.world_ranks.resize(static_cast<std::size_t>(remote.size));
  const std::vector<int> ours = world_ranks_of(local);
  return swap_bytes(privately.comm(), peer, dpm::tag_ranks, ours.data(), ours.size() * sizeof(int),
                    remote.world_ranks.data(), remote.world_ranks.size() * sizeof(int));
}

// Answers, unless they have gone already.
Error answer_to(const Everyone& privately, int peer, const Hello& answer, Presence& presence) {
  Request& told = privately.irecv(peer, dpm::tag_presence, &presence, sizeof presence);
  Request* const request = &told;
  Error error = p2p::test(told) ? success : privately.send(peer, dpm::tag_answer, &answer, sizeof answer);
  if (error) (void)p2p::cancel(told);
  if (Error e = p2p::wait_all(&request, 1); e && !error) error = e;
  p2p::give_back(told);
  return error;
}

Error accept_one(Rank& rank, Context port, const Group& local, Context offered, Remote& remote) {
  const Everyone at_port(rank, port);
  for (;;) {
    Hello hello{};
    MPI_Status status;
    if (Error e = at_port.recv(MPI_ANY_SOURCE, dpm::tag_hello, &hello, sizeof hello, &status)) return e;
    const Everyone privately(rank, hello.privately);
    Presence presence{};
    if (Error e = answer_to(privately, status.MPI_SOURCE, {local.size, offered, 0}, presence)) return e;
    if (presence == Presence::gone) continue;
    remote.size = hello.size;
    remote.offered = hello.offered;
    return swap_ranks(privately, status.MPI_SOURCE, local, remote);
  }
}

// Seconds, by the info key "timeout", which MPICH has too.
Error limit_of(const Info* info, std::chrono::seconds& limit) {
  const std::string text = value_of(info, "timeout").value_or("");
  limit = limit_by_default;
  if (text.empty()) return success;
  std::int64_t seconds = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (problem != std::errc() || end != text.data() + text.size() || seconds < 0 || seconds > longest_limit)
    return fail(MPI_ERR_INFO_VALUE, "info's timeout is '%.100s', which is not a number of seconds", text.c_str());
  limit = std::chrono::seconds(seconds);
  return success;
}

enum class Outcome { answered, closed, late };

Outcome wait_for_answer(Request& answer, const boot::Board& board, Context port, std::chrono::seconds limit) {
  const Clock::time_point begin = Clock::now();
  Clock::time_point closed = Clock::time_point::max();
  for (int looks = 0; !p2p::test(answer); ++looks) {
    if (closed != Clock::time_point::max()) {
      if (Clock::now() - closed > grace_of_answer && p2p::cancel(answer)) return Outcome::closed;
    } else if (!dpm::is_open(board, port)) {
      closed = Clock::now();
    } else if (Clock::now() - begin > limit && p2p::cancel(answer)) {
      return Outcome::late;
    }
    if (looks > polls_spinning) usleep(between_polls);
  }
  return Outcome::answered;
}

Error connect_to(Rank& rank, Context port, const Group& local, Context offered, std::chrono::seconds limit,
                 Remote& remote) {
  const int owner = maker_of(port);
  const Hello hello{local.size, offered, fresh_context(rank)};
  const Everyone privately(rank, hello.privately);
  Hello answer{};
  Request& request = privately.irecv(owner, dpm::tag_answer, &answer, sizeof answer);
  {
    const Everyone at_port(rank, port);
    if (Error e = at_port.send(owner, dpm::tag_hello, &hello, sizeof hello)) return e;
  }
  const Outcome outcome = wait_for_answer(request, *rank.job->board(), port, limit);
  p2p::give_back(request);
  if (outcome == Outcome::closed)
    return fail(MPI_ERR_PORT, "the port was closed before a process accepted the connection");
  const Presence presence = outcome == Outcome::late ? Presence::gone : Presence::connected;
  if (Error e = privately.send(owner, dpm::tag_presence, &presence, sizeof presence)) return e;
  if (outcome == Outcome::late)
    return fail(MPI_ERR_PORT, "no process has accepted the connection for %lld seconds (info key timeout)",
                static_cast<long long>(limit.count()));
  remote.size = answer.size;
  remote.offered = answer.offered;
  return swap_ranks(privately, owner, local, remote);
}

template <class Exchange>
Error join_at_port(const char* port_name, int root, Comm& comm, MPI_Comm* newcomm, Exchange&& exchange_at_port) {
  Rank& rank = *comm.owner;
  *newcomm = MPI_COMM_NULL;
  int model = 0;
  if (Error e = choose_model(rank, *comm.local_group, nullptr, model)) return e;
  const auto exchange = [&](const Group& local, Context offered, Remote& remote) -> Error {
    Context port = 0;
    if (Error e = dpm::find_port(rank, port_name, port)) return e;
    return exchange_at_port(rank, port, local, offered, remote);
  };
  Comm* intercomm = nullptr;
  if (Error e = join_groups(comm, root, nullptr, model, exchange, intercomm)) return e;
  *newcomm = handle_of<MPI_Comm>(*intercomm);
  return success;
}

}  // namespace

namespace mpi {

// Accept has no info keys.
Error Comm_accept(const char* port_name, const Info*, int root, Comm& comm, MPI_Comm* newcomm) {
  if (Error e = check_survivable(*comm.owner, "an intercommunicator")) return e;
  const auto accept = [&](Rank& rank, Context port, const Group& local, Context offered, Remote& remote) {
    if (maker_of(port) != rank.world_rank)
      return fail(MPI_ERR_PORT, "port_name is '%.100s', which another process has opened", port_name);
    return accept_one(rank, port, local, offered, remote);
  };
  return join_at_port(port_name, root, comm, newcomm, accept);
}

Error Comm_connect(const char* port_name, const Info* info, int root, Comm& comm, MPI_Comm* newcomm) {
  if (Error e = check_survivable(*comm.owner, "an intercommunicator")) return e;
  const auto connect = [&](Rank& rank, Context port, const Group& local, Context offered, Remote& remote) {
    if (maker_of(port) == rank.world_rank)
      return fail(MPI_ERR_PORT, "port_name is '%.100s', which this process itself has opened", port_name);
    std::chrono::seconds limit{};
    if (Error e = limit_of(info, limit)) return e;
    return connect_to(rank, port, local, offered, limit, remote);
  };
  return join_at_port(port_name, root, comm, newcomm, connect);
}

}  // namespace mpi
}  // namespace heddle
