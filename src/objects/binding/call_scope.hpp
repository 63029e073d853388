// The current MPI function of a thread, readable by mpiexec when the rank dies ("rank 1 died in MPI_Recv"). Costs a
// load, two stores and a branch for each call, on a cache line of the thread's own.
#pragma once

#include <cstdint>

#include "base/functions.hpp"
#include "launch/boot/call_mark.hpp"

namespace heddle::binding {

// Null until the thread has one. Initial-exec, so that reading it is one instruction; the library uses a few bytes
// of what the loader keeps free for that.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local boot::ThreadRecord* own_record;

// Finds this thread's record, or a dummy one that is not read while there is no job to be in.
[[gnu::cold, gnu::noinline]] boot::ThreadRecord& find_record();

class CallScope {
 public:
  explicit CallScope(Function function)
      : mark_(own_record ? *own_record : find_record(), static_cast<std::uint16_t>(function)) {}

 private:
  boot::CallMark mark_;
};

}  // namespace heddle::binding
