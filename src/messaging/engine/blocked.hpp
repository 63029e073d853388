// Says for the time of a block what the calling thread waits for, where mpiexec can read it (launch/boot/wait_record.hpp).
//
// Only for a wait that has become a long one: when the thread goes to sleep or is suspended, or has polled for longer than
// a thread stays spinning. It costs some stores to a cache line that this thread wrote last, and a reading of the coarse clock.
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
  // Null: what the thread waits for has been said already.
  Blocked(Rank& rank, const boot::Wait* wait);
  ~Blocked();
  Blocked(const Blocked&) = delete;
  Blocked& operator=(const Blocked&) = delete;

 private:
  Rank& rank_;
  boot::WaitSlot* slot_ = nullptr;
  bool counted_ = false;  // it has found no slot
};

// One more request that is not done and that the caller waits for. With the lock of the request's VNI held.
void add_request(boot::Wait& wait, const Request& request);

// Of a condition that concerns a communicator.
inline boot::Wait wait_on(const Comm& comm, boot::Awaited what, int peer = -1, int tag = -1) {
  return {.context = comm.context, .peer = peer, .tag = tag, .member = comm.rank, .members = comm.size, .what = what};
}

}  // namespace heddle::engine
