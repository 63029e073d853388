// The generated entry points' checks of their arguments. Each is a compare or two; the consequences of a failure are in
// complain.hpp, out of line.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "launch/rank/rank.hpp"
#include "objects/binding/counts.hpp"
#include "objects/datatype/datatype.hpp"
#include "objects/object/comm.hpp"
#include "objects/object/group.hpp"
#include "objects/object/message.hpp"
#include "objects/object/resolve.hpp"
#include "objects/object/tags.hpp"
#include "objects/object/topology.hpp"

namespace heddle::binding {

inline bool running() { return current_rank().phase.load(std::memory_order_relaxed) == Phase::active; }

// ---- Ranks ----

inline bool is_member(int rank, const Comm& comm) { return 0 <= rank && rank < comm.size; }
inline bool is_destination(int rank, const Comm& comm) {
  return (0 <= rank && rank < comm.remote_size) || rank == MPI_PROC_NULL;
}
inline bool is_source(int rank, const Comm& comm) {
  return is_destination(rank, comm) || (rank == MPI_ANY_SOURCE && !comm.has_promised(promise_no_any_source));
}
inline bool is_root_argument(int root, const Comm& comm) {
  if (!comm.inter) return is_member(root, comm);
  return (0 <= root && root < comm.remote_size) || root == MPI_ROOT || root == MPI_PROC_NULL;
}
inline bool are_members(const int* ranks, int n, const Group& group, bool or_proc_null = false) {
  for (int i = 0; i < n; ++i) {
    if ((ranks[i] < 0 || ranks[i] >= group.size) && !(or_proc_null && ranks[i] == MPI_PROC_NULL)) return false;
  }
  return true;
}

// A process's role in a rooted collective (MPI 5.0, section 6.2.2): in an intercommunicator the root's group passes
// MPI_ROOT or MPI_PROC_NULL, the other group the root's rank.
inline bool is_root(const Comm& comm, int root) { return comm.inter ? root == MPI_ROOT : root == comm.rank; }
inline bool is_leaf(const Comm& comm, int root) { return !comm.inter || root >= 0; }
inline bool takes_part(const Comm& comm, int root) { return !comm.inter || root != MPI_PROC_NULL; }
// ... unless the root's own part is already in place.
inline bool is_leaf(const Comm& comm, int root, const void* buffer) {
  return is_leaf(comm, root) && !(buffer == MPI_IN_PLACE && is_root(comm, root));
}

// True if this process has neighbors to send to, to receive from. Without a topology the call fails later and better.
inline bool has_destinations(const Comm& comm) { return comm.topology && !comm.topology->destinations.empty(); }
inline bool has_sources(const Comm& comm) { return comm.topology && !comm.topology->sources.empty(); }

// The communicator of a matched message, if the program has not freed it meanwhile.
inline Comm* comm_of(MPI_Message message) {
  if (message == MPI_MESSAGE_NO_PROC) return nullptr;
  Comm* comm = object(message)->comm;
  return comm->handle != 0 ? comm : nullptr;
}

// ---- Tags ----

inline bool is_tag(int tag) { return 0 <= tag && tag <= tag_upper_bound; }
inline bool is_receive_tag(int tag, const Comm& comm) {
  return is_tag(tag) || (tag == MPI_ANY_TAG && !comm.has_promised(promise_no_any_tag));
}

// ---- Counts ----

inline bool are_counts(Counts counts, MPI_Count n, MPI_Count least = 0) {
  if (!counts) return n == 0;
  for (MPI_Count i = 0; i < n; ++i) {
    if (counts[static_cast<std::size_t>(i)] < least) return false;
  }
  return true;
}

inline MPI_Count sum(Counts counts, MPI_Count n) {
  MPI_Count total = 0;
  for (MPI_Count i = 0; i < n; ++i) total += counts[static_cast<std::size_t>(i)];
  return total;
}

// ---- Datatypes and buffers ----

inline bool is_committed(const Datatype* type) { return type && type->committed; }

inline bool are_datatypes(const MPI_Datatype* types, MPI_Count n, bool committed) {
  if (!types) return n == 0;
  for (MPI_Count i = 0; i < n; ++i) {
    const Datatype* type = object(types[i]);
    if (!type || (committed && !type->committed)) return false;
  }
  return true;
}

// True if `count` elements can begin at `buffer`. The first addresses are MPI_BOTTOM, which needs a datatype with
// absolute addresses, and MPI_IN_PLACE, which has been handled by now wherever it is allowed. An empty buffer may begin
// there, too: an empty slice of Rust is at address 1.
inline bool is_buffer(const void* buffer, MPI_Count count, const Datatype& type) {
  if (reinterpret_cast<std::uintptr_t>(buffer) > 2) [[likely]]
    return true;
  return count == 0 || type.size == 0 || (!buffer && type.may_be_absolute());
}
inline bool is_buffer(const void* buffer, MPI_Count bytes) {
  return reinterpret_cast<std::uintptr_t>(buffer) > 2 || bytes == 0;
}

// True if two buffers surely overlap, because they start with the same byte. A null datatype: the buffer is not
// checked.
inline bool overlap(const void* a, MPI_Count a_count, const Datatype* a_type, const void* b, MPI_Count b_count,
                    const Datatype* b_type) {
  if (a != b) [[likely]]
    return false;
  return a && a != MPI_IN_PLACE && a_count > 0 && b_count > 0 && a_type && b_type && a_type->size > 0 &&
         b_type->size > 0 && a_type->true_lb == b_type->true_lb;
}

// ---- Requests ----

inline bool are_requests(const MPI_Request* requests, int n) {
  if (!requests) return n == 0;
  for (int i = 0; i < n; ++i) {
    if (!object(requests[i])) return false;
  }
  return true;
}

// ---- Strings of info objects ----

inline bool is_info_key(const char* key) { return key && *key && strnlen(key, MPI_MAX_INFO_KEY) < MPI_MAX_INFO_KEY; }
inline bool is_info_value(const char* value) { return value && strnlen(value, MPI_MAX_INFO_VAL) < MPI_MAX_INFO_VAL; }

}  // namespace heddle::binding
