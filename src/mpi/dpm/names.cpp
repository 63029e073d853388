// Names for ports (MPI 5.0, section 11.9.4): all processes of the job can look up a published name.
#include <cstring>

#include "launch/rank/rank.hpp"
#include "mpi/dpm/board.hpp"
#include "objects/binding/impl.hpp"

namespace heddle::mpi {

namespace {

using boot::PublishedName;

Error check_service(const char* service_name) {
  const std::size_t length = std::strlen(service_name);
  if (length > PublishedName::most_service)
    return fail(MPI_ERR_ARG, "service_name has %zu characters, and may have %zu", length, PublishedName::most_service);
  return success;
}

// There is room for it.
void copy_text(char* to, const char* from) { std::memcpy(to, from, std::strlen(from) + 1); }

PublishedName* find(const dpm::LockedBoard& board, const char* service_name) {
  for (PublishedName& name : board.names())
    if (name.owner != 0 && std::strcmp(name.service, service_name) == 0) return &name;
  return nullptr;
}

}  // namespace

Error Publish_name(const char* service_name, const Info*, const char* port_name) {
  const Rank& rank = current_rank();
  if (Error e = check_service(service_name)) return e;
  if (std::strlen(port_name) > PublishedName::most_port)
    return fail(MPI_ERR_ARG, "port_name has %zu characters, and may have %zu", std::strlen(port_name),
                PublishedName::most_port);
  boot::Board* const board = dpm::board_of(rank);
  if (board == nullptr) return Error(MPI_ERR_UNSUPPORTED_OPERATION);
  dpm::LockedBoard locked(*board);
  if (find(locked, service_name) != nullptr)
    return fail(MPI_ERR_SERVICE, "service_name is '%.100s', which is published already", service_name);
  PublishedName* const name = locked.new_name();
  if (name == nullptr)
    return fail(MPI_ERR_OTHER, "%d names are published already, which is the maximum", boot::published_names);
  copy_text(name->service, service_name);
  copy_text(name->port, port_name);
  name->owner = rank.world_rank + 1;
  return success;
}

Error Unpublish_name(const char* service_name, const Info*, const char* port_name) {
  boot::Board* const board = dpm::board_of(current_rank());
  if (board == nullptr) return Error(MPI_ERR_UNSUPPORTED_OPERATION);
  const dpm::LockedBoard locked(*board);
  PublishedName* const name = find(locked, service_name);
  if (name == nullptr) return fail(MPI_ERR_SERVICE, "service_name is '%.100s', which is not published", service_name);
  if (std::strcmp(name->port, port_name) != 0)
    return fail(MPI_ERR_SERVICE, "service_name is '%.100s', which is published for another port", service_name);
  name->owner = 0;
  return success;
}

Error Lookup_name(const char* service_name, const Info*, char* port_name) {
  boot::Board* const board = dpm::board_of(current_rank());
  if (board == nullptr) return Error(MPI_ERR_UNSUPPORTED_OPERATION);
  const dpm::LockedBoard locked(*board);
  const PublishedName* const name = find(locked, service_name);
  if (name == nullptr)
    return fail(MPI_ERR_NAME, "service_name is '%.100s', which no process of this job has published", service_name);
  copy_text(port_name, name->port);
  return success;
}

}  // namespace heddle::mpi
