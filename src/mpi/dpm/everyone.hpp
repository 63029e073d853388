// A communicator of all processes that the job may have, by their numbers in it, for messages between processes without
// another communicator in common. It exists only here: nothing was agreed, and only point-to-point messages may be sent
// over it. The answering process makes one with the same context.
#pragma once

#include "launch/rank/rank.hpp"
#include "messaging/p2p/p2p.hpp"
#include "mpi/comm/make_comm.hpp"
#include "objects/datatype/datatype.hpp"

namespace heddle::dpm {

class Everyone {
 public:
  Everyone(Rank& rank, Context context)
      : comm_(*make_comm(rank, {.context = context, .local_group = make_identity_group(rank, rank.job->capacity())})) {}
  ~Everyone() { retire(comm_); }
  Everyone(const Everyone&) = delete;
  Everyone& operator=(const Everyone&) = delete;

  Comm& comm() const { return comm_; }

  Error send(int peer, int tag, const void* data, std::size_t bytes) const {
    return p2p::send(comm_, Plane::user, data, static_cast<MPI_Count>(bytes), byte(), peer, tag);
  }
  Error recv(int peer, int tag, void* data, std::size_t bytes, MPI_Status* status = nullptr) const {
    return p2p::recv(comm_, Plane::user, data, static_cast<MPI_Count>(bytes), byte(), peer, tag, status);
  }
  // The caller waits for it and gives it back.
  Request& irecv(int peer, int tag, void* data, std::size_t bytes) const {
    return p2p::irecv(comm_, Plane::user, data, static_cast<MPI_Count>(bytes), byte(), peer, tag);
  }

 private:
  static const Datatype& byte() { return *predefined_datatype(MPI_BYTE); }

  Comm& comm_;
};

// The tags of its messages.
enum Tag : int { tag_hello, tag_answer, tag_ranks, tag_presence };

}  // namespace heddle::dpm
