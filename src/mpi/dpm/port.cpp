// MPI_Open_port and MPI_Close_port (MPI 5.0, section 11.9.2).
#include "mpi/dpm/port.hpp"

#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "launch/rank/rank.hpp"
#include "mpi/dpm/board.hpp"
#include "objects/binding/impl.hpp"
#include "objects/object/context.hpp"

namespace heddle {

namespace dpm {

std::string port_name_of(const Rank& rank, Context port) {
  char name[64];
  std::snprintf(name, sizeof name, "heddle:%016" PRIx64 ":%016" PRIx64, rank.job->key(), port);
  return name;
}

Error find_port(const Rank& rank, const char* port_name, Context& port) {
  std::uint64_t key = 0;
  int read = 0;
  if (std::sscanf(port_name, "heddle:%16" SCNx64 ":%16" SCNx64 "%n", &key, &port, &read) != 2 ||
      port_name[read] != '\0')
    return fail(MPI_ERR_PORT, "port_name is '%.100s', which is not a name of MPI_Open_port of this library", port_name);
  if (key != rank.job->key())
    return fail(MPI_ERR_PORT,
                "port_name is '%.100s', a port of another job; so far only processes that one mpiexec has started, or "
                "that these have spawned, can connect",
                port_name);
  const boot::Board* const board = board_of(rank);
  if (board == nullptr) return Error(MPI_ERR_UNSUPPORTED_OPERATION);
  if (!is_open(*board, port)) return fail(MPI_ERR_PORT, "port_name is '%.100s', which is not open", port_name);
  return success;
}

}  // namespace dpm

namespace mpi {

// There are no info keys.
Error Open_port(const Info*, char* port_name) {
  Rank& rank = current_rank();
  boot::Board* const board = dpm::board_of(rank);
  if (board == nullptr) return Error(MPI_ERR_UNSUPPORTED_OPERATION);
  const Context port = fresh_context(rank);
  if (!dpm::add_port(*board, port))
    return fail(MPI_ERR_OTHER, "%d ports of the job are open already, which is the maximum", boot::open_ports);
  const std::string name = dpm::port_name_of(rank, port);
  std::memcpy(port_name, name.c_str(), name.size() + 1);
  return success;
}

Error Close_port(const char* port_name) {
  const Rank& rank = current_rank();
  Context port = 0;
  if (Error e = dpm::find_port(rank, port_name, port)) return e;
  if (maker_of(port) != rank.world_rank)
    return fail(MPI_ERR_PORT, "port_name is '%.100s', which another process has opened", port_name);
  dpm::remove_port(*rank.job->board(), port);
  return success;
}

}  // namespace mpi
}  // namespace heddle
