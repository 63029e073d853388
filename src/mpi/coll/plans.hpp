// Plans: the collectives of the standard as values. A plan holds the arguments of a call; applied to a schedule it
// checks them and writes the steps. Blocking, nonblocking and persistent calls share it, and so do the regular and
// the vector variants, which differ only in how they describe blocks.
#pragma once

#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/schedule.hpp"
#include "objects/object/error.hpp"

namespace heddle::coll::plan {

struct Barrier {
  Error operator()(Schedule& schedule) const;
};

struct Bcast {
  void* buffer;
  MPI_Count count;
  const Datatype& type;
  int root;
  Error operator()(Schedule& schedule) const;
};

struct Gather {
  const void* sendbuf;
  MPI_Count sendcount;
  const Datatype* sendtype;
  Blocks all;
  int root;
  Error operator()(Schedule& schedule) const;
};

struct Scatter {
  Blocks all;
  void* recvbuf;
  MPI_Count recvcount;
  const Datatype* recvtype;
  int root;
  Error operator()(Schedule& schedule) const;
};

struct Allgather {
  const void* sendbuf;
  MPI_Count sendcount;
  const Datatype* sendtype;
  Blocks all;
  Error operator()(Schedule& schedule) const;
};

struct Alltoall {
  Blocks from;
  Blocks to;
  Error operator()(Schedule& schedule) const;
};

struct Reduce {
  const void* sendbuf;
  void* recvbuf;
  MPI_Count count;
  const Datatype& type;
  const Op& op;
  int root;
  Error operator()(Schedule& schedule) const;
};

struct Allreduce {
  const void* sendbuf;
  void* recvbuf;
  MPI_Count count;
  const Datatype& type;
  const Op& op;
  Error operator()(Schedule& schedule) const;
};

struct ReduceScatter {
  const void* sendbuf;
  void* recvbuf;
  Slices slices;
  const Datatype& type;
  const Op& op;
  Error operator()(Schedule& schedule) const;
};

struct Scan {
  const void* sendbuf;
  void* recvbuf;
  MPI_Count count;
  const Datatype& type;
  const Op& op;
  bool inclusive;
  Error operator()(Schedule& schedule) const;
};

struct NeighborAllgather {
  BufferView mine;
  Blocks from_each;
  Error operator()(Schedule& schedule) const;
};

struct NeighborAlltoall {
  Blocks to_each;
  Blocks from_each;
  Error operator()(Schedule& schedule) const;
};

}  // namespace heddle::coll::plan
