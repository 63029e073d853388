// Collective operations for the library's own use, above all to create communicators. Blocking; every member of the
// communicator's local group takes part, and all in the same order with respect to other collectives on it. On an
// intercommunicator they run among the local group (its local_comm).
#pragma once

#include <cstddef>
#include <cstdint>

#include "objects/object/comm.hpp"
#include "objects/object/error.hpp"

namespace heddle::coll {

Error barrier(Comm& comm);
Error bcast_bytes(Comm& comm, void* data, std::size_t bytes, int root);
// `each` bytes from every member, in rank order; `mine` may be this member's place in `all`.
Error allgather_bytes(Comm& comm, const void* mine, void* all, std::size_t each);

// Element-wise, in place.
enum class ReductionKind { min, max, band, bor, sum };
Error allreduce(Comm& comm, std::uint64_t* values, std::size_t n, ReductionKind fold);
inline Error allreduce(Comm& comm, std::uint64_t& value, ReductionKind fold) {
  return allreduce(comm, &value, 1, fold);
}

// Frees the collectives' state of a communicator. Called when its last reference goes.
void release_state(Comm& comm);

}  // namespace heddle::coll
