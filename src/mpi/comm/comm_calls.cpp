// Inquiries about a communicator, and its end (MPI 5.0, sections 7.4 to 7.8).
#include <algorithm>

#include "messaging/p2p/p2p.hpp"
#include "mpi/comm/hints.hpp"
#include "mpi/comm/make_comm.hpp"
#include "mpi/comm/shown_name.hpp"
#include "objects/binding/impl.hpp"
#include "objects/object/comm.hpp"
#include "objects/object/name.hpp"
#include "objects/object/resolve.hpp"

namespace heddle::mpi {

Error Comm_size(Comm& comm, int* size) {
  *size = comm.size;
  return success;
}

Error Comm_rank(Comm& comm, int* rank) {
  *rank = comm.rank;
  return success;
}

Error Comm_remote_size(Comm& comm, int* size) {
  *size = comm.remote_size;
  return success;
}

Error Comm_test_inter(Comm& comm, int* flag) {
  *flag = comm.inter;
  return success;
}

Error Comm_compare(Comm& comm1, Comm& comm2, int* result) {
  if (&comm1 == &comm2) {
    *result = MPI_IDENT;
    return success;
  }
  if (comm1.inter != comm2.inter) {
    *result = MPI_UNEQUAL;
    return success;
  }
  // The constants are ordered: the worse of both groups counts.
  int likeness = compare(*comm1.local_group, *comm2.local_group);
  if (comm1.inter) likeness = std::max(likeness, compare(*comm1.remote_group, *comm2.remote_group));
  *result = likeness == MPI_IDENT ? MPI_CONGRUENT : likeness;
  return success;
}

Error Comm_set_name(Comm& comm, const char* comm_name) {
  std::lock_guard guard(comm.mutex);
  comm.name = stored_name(comm_name);
  show_name(comm);
  return success;
}

Error Comm_get_name(Comm* comm, char* comm_name, int* resultlen) {
  if (!comm) return copy_name("MPI_COMM_NULL", comm_name, resultlen);
  std::lock_guard guard(comm->mutex);
  return copy_name(comm->name, comm_name, resultlen);
}

// An assertion by which messages are already spread can't be revoked (section 7.4.4 allows that), and the safety model
// is fixed when the communicator is made; MPI_Comm_get_info returns both.
Error Comm_set_info(Comm& comm, const Info* info) {
  InfoEntries hints = known_hints(info);
  std::erase_if(hints, [&](const auto& hint) {
    return hint.first == model_key || comm.has_promised(promised({{hint.first, "true"}}));
  });
  std::lock_guard guard(comm.mutex);
  for (auto& [key, value] : hints) {
    const auto same = [&key = key](const auto& hint) { return hint.first == key; };
    const auto place = std::find_if(comm.hints.begin(), comm.hints.end(), same);
    if (place == comm.hints.end()) {
      comm.hints.emplace_back(std::move(key), std::move(value));
    } else {
      place->second = std::move(value);
    }
  }
  return success;
}

Error Comm_get_info(Comm& comm, MPI_Info* info_used) {
  std::lock_guard guard(comm.mutex);
  *info_used = handle_of<MPI_Info>(*make_info(comm.hints));
  return success;
}

Error Comm_get_parent(MPI_Comm* parent) {
  const Comm* const ours = current_rank().parent;
  *parent = ours != nullptr ? handle_of<MPI_Comm>(*ours) : MPI_COMM_NULL;
  return success;
}

Error Comm_free(MPI_Comm* comm) {
  Comm& it = *object(*comm);
  if (!it.user_made) return fail(MPI_ERR_COMM, "comm is %s, which cannot be freed", it.name.c_str());
  if (Error e = free_comm(it)) return e;
  *comm = MPI_COMM_NULL;
  return success;
}

Error Comm_disconnect(MPI_Comm* comm) {
  Comm& it = *object(*comm);
  if (!it.user_made) return fail(MPI_ERR_COMM, "comm is %s, which cannot be disconnected", it.name.c_str());
  // This rank need not call MPI again for the peers that it is disconnected from (MPI 5.0, section 11.10.4).
  p2p::send_deferred(it);
  if (Error e = free_comm(it)) return e;
  *comm = MPI_COMM_NULL;
  return success;
}

}  // namespace heddle::mpi
