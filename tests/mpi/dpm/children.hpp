// The common part of the tests of dynamic processes: a program that spawns copies of itself, which take the part that
// their first argument names.
#pragma once

#include <mpi.h>

#include <cstring>
#include <string>
#include <vector>

#include "mpi/check.hpp"

namespace test {

// The part that this process was spawned to play; "": it was not.
inline std::string part(int argc, char** argv) {
  MPI_Comm parent;
  MPI_Comm_get_parent(&parent);
  return parent != MPI_COMM_NULL && argc > 1 ? argv[1] : "";
}

inline MPI_Comm parent() {
  MPI_Comm comm;
  MPI_Comm_get_parent(&comm);
  return comm;
}

// `n` copies of `program`, which play `part`.
inline MPI_Comm spawn(const char* program, std::vector<std::string> arguments, int n, MPI_Comm comm, int root = 0,
                      MPI_Info info = MPI_INFO_NULL) {
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  std::vector<int> codes(static_cast<std::size_t>(n), -1);
  MPI_Comm children;
  MPI_Comm_spawn(program, argv.data(), n, info, root, comm, &children, codes.data());
  for (const int code : codes) equal(code, MPI_SUCCESS, "errcode");
  return children;
}

inline int remote_size(MPI_Comm comm) {
  int n;
  MPI_Comm_remote_size(comm, &n);
  return n;
}

// Both sides of an intercommunicator: each sends to all, `ints` at a time, and merges; what all have together
// arrives.
inline void talk(MPI_Comm inter, int ints, bool high) {
  const int theirs = remote_size(inter), mine = rank_in(inter);
  std::vector<std::vector<int>> in(static_cast<std::size_t>(theirs), std::vector<int>(static_cast<std::size_t>(ints)));
  const std::vector<int> out(static_cast<std::size_t>(ints), 1000 * high + mine);
  std::vector<MPI_Request> requests;
  for (int peer = 0; peer < theirs; ++peer) {
    MPI_Irecv(in[static_cast<std::size_t>(peer)].data(), ints, MPI_INT, peer, 7, inter, &requests.emplace_back());
    MPI_Isend(out.data(), ints, MPI_INT, peer, 7, inter, &requests.emplace_back());
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  for (int peer = 0; peer < theirs; ++peer) {
    equal(in[static_cast<std::size_t>(peer)].front(), 1000 * !high + peer, "the first that a peer sent");
    equal(in[static_cast<std::size_t>(peer)].back(), 1000 * !high + peer, "the last that a peer sent");
  }

  MPI_Comm all;
  MPI_Intercomm_merge(inter, high, &all);
  int size;
  MPI_Comm_size(all, &size);
  int said = rank_in(all) == 0 ? 42 : 0;
  MPI_Bcast(&said, 1, MPI_INT, 0, all);
  equal(said, 42, "broadcast over the merged communicator");
  int sum = 0;
  const int one = 1;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
  equal(sum, size, "sum over the merged communicator");
  MPI_Comm_free(&all);
}

}  // namespace test
