#include "messaging/message/completion.hpp"

#include "messaging/message/request_cache.hpp"

namespace heddle::message {

using instruments::Count;
using instruments::count_held;

void Completion::report(Request& request, std::uint32_t done, Wakeups& wakeups) {
  if (request.owner == Owner::library) wake(wakeups);
  set_done(request, done, wakeups);
}

[[gnu::noinline]] void Completion::finish_without_waiter(Request& request, Wakeups& wakeups) {
  if (request.owner == Owner::library) return report(request, 1, wakeups);
  (void)give_back_done(request);  // its operation is over, and there is no call to report an error to
}

// The thread waits where its counter says, or on the rank's doorbell if it is the server: that one is rung whenever the last event has come
// and no thread is blocked on the counter.
void Completion::signal(Waiter& waiter, Wakeups& wakeups) {
  switch (waiter.arrive()) {
    case sync::Arrival::more_to_come:
      break;
    case sync::Arrival::last_blocked:
      wakeups.add(waiter);
      count_held(counters_, Count::wakeups);
      break;
    case sync::Arrival::last_spinning:
      wake();
      break;
  }
}

}  // namespace heddle::message
