// Taking operations back (MPI 5.0, section 3.8.4).
#include "p2p/core.hpp"
#include "rank/rank.hpp"

namespace heddle::p2p {

bool Core::cancel(Request& request, Wakeups& wakeups) {
  if (request.done.load(std::memory_order_relaxed) != 0) return false;
  if (request.receives ? !matcher_.withdraw(request) : !withdraw(request)) return false;
  request.cancelled = true;
  finish(request, wakeups);
  return true;
}

// A send that has not left, one to ourselves that waits for its receive, or one that its receiver has not taken.
bool Core::withdraw(Request& send) {
  if (send.peer == rank_.world_rank) {
    Unexpected* const message = matcher_.find_local(send);
    if (message == nullptr) return false;
    matcher_.remove_unexpected(*message);
    drop_unexpected(*message);
    return true;
  }
  if (remove_pending(send)) {
    forget_claim(send);
    return true;
  }
  return send.order != lln::shm::nowhere && claims_.withdraw(send.order);
}

// Of a send that is about to be finished: its message has been received, or has never left.
void Core::forget_claim(Request& request) {
  if (request.receives || request.order == lln::shm::nowhere) return;
  claims_.recycle(request.order);
  request.order = lln::shm::nowhere;
}

}  // namespace heddle::p2p
