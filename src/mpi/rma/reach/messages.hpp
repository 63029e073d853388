// A window that is reached by messages (ADR 0041): its two ends, and their progress. They advance whenever a thread of
// this rank makes progress, and while none is in a call a thread of the library does.
#pragma once

#include <atomic>

#include "base/progress/pollables.hpp"
#include "mpi/rma/reach/attached_memory.hpp"
#include "mpi/rma/reach/exposure.hpp"
#include "mpi/rma/reach/origin.hpp"
#include "mpi/rma/reach/service.hpp"
#include "objects/object/comm.hpp"

namespace heddle::rma::reach {

class Messages final : private progress::Pollable {
 public:
  // `base` and `size`: the memory that this member opens; of a dynamic window null and 0. From here on commands are
  // answered. Throws std::bad_alloc and std::system_error.
  Messages(Comm& comm, std::byte* base, MPI_Aint size, bool dynamic);
  // All members have come to the end of the window: no command is in flight. Blocks until no answer is, either.
  ~Messages();
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;

  AttachedMemory attached;  // dynamic windows
  Origin origin;
  Exposure exposure;
  const bool dynamic;

 private:
  bool poll() override;

  Comm& comm_;
  Service service_;
  std::atomic<bool> ending_{false};
  std::atomic<bool> ended_{false};
};

}  // namespace heddle::rma::reach
