// Records what a blocked thread waits for, where mpiexec can read it (launch/boot/wait_record.hpp), for the duration of the wait.
//
// Only long waits are recorded: when the thread blocks or is suspended, or has polled for longer than the spin time. The record costs a
// few stores to a cache line that this thread wrote last, and one read of the coarse clock.
#pragma once

#include "launch/boot/wait_record.hpp"
#include "objects/object/comm.hpp"

namespace heddle {
struct Rank;
struct Request;
}  // namespace heddle

namespace heddle::engine {

class Blocked {
 public:
  // Null: the caller has recorded its wait already.
  Blocked(Rank& rank, const boot::Wait* wait);
  ~Blocked();
  Blocked(const Blocked&) = delete;
  Blocked& operator=(const Blocked&) = delete;

 private:
  Rank& rank_;
  boot::WaitSlot* slot_ = nullptr;
  bool counted_ = false;  // there was no free slot
};

// Adds a request that is not done and that the caller waits for. With the lock of the request's VNI held.
void add_request(boot::Wait& wait, const Request& request);

// The record of a wait for a condition that concerns a communicator.
inline boot::Wait wait_on(const Comm& comm, boot::Awaited what, int peer = -1, int tag = -1) {
  return {.context = comm.context, .peer = peer, .tag = tag, .member = comm.rank, .members = comm.size, .what = what};
}

}  // namespace heddle::engine
