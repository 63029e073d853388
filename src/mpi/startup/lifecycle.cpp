// MPI_Init, MPI_Finalize, MPI_Abort: the world model (MPI 5.0, section 11.2).
#include <pthread.h>

#include <cstdio>
#include <string>

#include "base/threads/thread_ref.hpp"
#include "launch/boot/join.hpp"
#include "launch/rank/rank.hpp"
#include "messaging/engine/engine.hpp"
#include "messaging/p2p/buffer.hpp"
#include "messaging/p2p/p2p.hpp"
#include "mpi/dpm/parent.hpp"
#include "mpi/tool/report.hpp"
#include "objects/binding/impl.hpp"
#include "objects/object/comm.hpp"
#include "objects/object/error.hpp"
#include "objects/object/faults.hpp"
#include "objects/object/tables.hpp"

namespace heddle::mpi {

Error Init_thread(int*, char***, int required, int* provided) {
  Rank& rank = current_rank();
  if (rank.world_phase.load(std::memory_order_acquire) != Phase::before)
    return fail(MPI_ERR_OTHER, "the world model can be initialized only once");
  if (required < MPI_THREAD_SINGLE || required > MPI_THREAD_MULTIPLE)
    return fail(MPI_ERR_ARG, "required = %d is not a level of thread support", required);
  rank.requested_level = required;
  if (Error e = acquire_library(rank)) return e;
  rank.main_thread = threads::identity();
  rank.thread_level = rank.engine->thread_level();  // never less: a request for less would cost no less
  rank.world = make_world(rank);
  rank.self = make_self(rank);
  if (Error e = dpm::connect_to_parent(rank)) return e;
  rank.world_phase.store(Phase::active, std::memory_order_release);
  *provided = rank.thread_level;
  return success;
}

Error Init(int* argc, char*** argv) {
  int provided;
  return Init_thread(argc, argv, MPI_THREAD_SINGLE, &provided);
}

Error Finalize() {
  Rank& rank = current_rank();
  if (rank.world_phase.load(std::memory_order_acquire) != Phase::active)
    return fail(MPI_ERR_OTHER, "the world model is not initialized, or finalized already");
  if (Error e = delete_world_attributes(rank)) return e;  // first of all: they may communicate
  for (const auto& buffer : {rank.buffer, rank.self->buffer, rank.world->buffer})
    if (buffer) buffer->flush();
  p2p::progress(rank);  // completed requests without an owner go now: alone, there is no message to wait for below
  const std::string report = tool::take_report(rank);  // before the steps below are counted
  // The remaining messages of this rank (answers that wait for room, long messages of freed requests) are sent while
  // the others are certainly there to receive them. Where some have failed, the others may compute, and need them all
  // the same.
  if (Error e = tool::publish_report(rank, report); e && !is_fault(e.code())) return e;
  rank.engine->send_deferred([](int) { return true; });
  rank.world_phase.store(Phase::after, std::memory_order_release);
  free_world(rank);
  release_library(rank);
  return success;
}

Error Abort(Comm* comm, int errorcode) {
  const Rank& rank = current_rank();
  char text[256];
  std::snprintf(text, sizeof text, "rank %d called MPI_Abort(%s, %d)", rank.rank_shown(),
                comm != nullptr && !comm->name.empty() ? comm->name.c_str() : "communicator", errorcode);
  boot::abort(rank.job.get(), errorcode, text);
}

}  // namespace heddle::mpi
