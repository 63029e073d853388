// MPI_Comm_split_type (MPI 5.0, section 7.4.2), on one machine.
#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "base/platform/hardware.hpp"
#include "launch/rank/rank.hpp"
#include "mpi/comm/exchange.hpp"
#include "mpi/comm/hints.hpp"
#include "mpi/comm/split.hpp"
#include "objects/binding/impl.hpp"
#include "objects/object/resolve.hpp"

namespace heddle::mpi {

namespace {

constexpr KnownKey resource_key = "mpi_hw_resource_type";
constexpr KnownKey pset_key = "mpi_pset_name";
constexpr std::string_view shared_memory = "mpi_shared_memory";

using Instances = std::array<int, hardware_kinds>;

int color_of(int instance) { return instance == nowhere ? MPI_UNDEFINED : instance; }

// Processes that share memory are on one node.
int color_of_node(const Comm& comm) { return comm.owner->node->place().first_local; }

// The processes on one instance of the kind that `info` names; none if it names no known kind.
int guided_color(const Info* info, const Instances& mine, const Comm& comm) {
  const auto wanted = value_of(info, resource_key);
  if (wanted == shared_memory) return color_of_node(comm);
  for (std::size_t kind = 0; kind < hardware_kinds; ++kind) {
    if (wanted == hardware_names[kind]) return color_of(mine[kind]);
  }
  return MPI_UNDEFINED;
}

int resource_color(const Info* info, const Instances& mine, const Comm& comm) {
  const auto pset = value_of(info, pset_key);
  if (pset == "mpi://WORLD") return 0;
  if (pset == "mpi://SELF") return comm.rank;
  return guided_color(info, mine, comm);
}

// The largest kind that cuts this process's instance out of the communicator. All on that instance see the same.
int unguided_color(Info* info, const Instances& mine, const std::vector<Instances>& all) {
  for (std::size_t kind = 0; kind < hardware_kinds; ++kind) {
    const auto same = [&](const Instances& other) { return other[kind] == mine[kind]; };
    if (mine[kind] == nowhere || std::all_of(all.begin(), all.end(), same)) continue;
    if (info) info->set(resource_key, hardware_names[kind]);
    // The kind is part of the color: instances of different kinds may have the same number.
    return mine[kind] * static_cast<int>(hardware_kinds) + static_cast<int>(kind);
  }
  return MPI_UNDEFINED;
}

}  // namespace

// All members exchange their places, whatever their arguments: no member knows those of the others.
Error Comm_split_type(Comm& comm, int split_type, int key, const Info* info, MPI_Comm* newcomm) {
  const Instances mine = hardware_of_this_process();
  std::vector<Instances> ours, theirs;
  if (Error e = exchange(comm, mine, ours, theirs)) return e;

  int color = MPI_UNDEFINED;
  switch (split_type) {
    case MPI_COMM_TYPE_SHARED:
      color = color_of_node(comm);
      break;
    case MPI_COMM_TYPE_HW_GUIDED:
      color = guided_color(info, mine, comm);
      break;
    case MPI_COMM_TYPE_RESOURCE_GUIDED:
      color = resource_color(info, mine, comm);
      break;
    case MPI_COMM_TYPE_HW_UNGUIDED:
      // The one use of an info argument as a result.
      color = unguided_color(const_cast<Info*>(info), mine, ours);
      break;
    case MPI_UNDEFINED:
      break;
    default:
      return fail(MPI_ERR_ARG, "split_type is %d, which is none of MPI_COMM_TYPE_*", split_type);
  }
  Comm* child = nullptr;
  if (Error e = split(comm, color, key, child, info)) return e;
  if (child) child->hints = known_hints(info);
  *newcomm = child ? handle_of<MPI_Comm>(*child) : MPI_COMM_NULL;
  return success;
}

}  // namespace heddle::mpi
