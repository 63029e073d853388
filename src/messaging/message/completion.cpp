#include "messaging/message/completion.hpp"

#include "messaging/message/request_cache.hpp"

namespace heddle::message {

using instruments::Count;
using instruments::count_held;

void Completion::report(Request& request, std::uint32_t done, Wakeups& wakeups) {
  if (request.owner == Owner::library) wake_.on(wake::Event::library_operation_done, wakeups);
  set_done(request, done, wakeups);
}

[[gnu::noinline]] void Completion::finish_without_waiter(Request& request, Wakeups& wakeups) {
  if (request.owner == Owner::library) return report(request, 1, wakeups);
  (void)give_back_done(request);  // no call can report an error of an operation that its owner has given up
}

// A thread that waits for its requests blocks on its counter. The server blocks on the rank's doorbell instead. So if the last event
// comes and no thread is blocked on the counter, ring the doorbell.
void Completion::signal(Waiter& waiter, Wakeups& wakeups) {
  switch (waiter.arrive()) {
    case sync::Arrival::more_to_come:
      break;
    case sync::Arrival::last_blocked:
      wakeups.add(waiter);
      count_held(counters_, Count::wakeups);
      break;
    case sync::Arrival::last_spinning:
      wake_.on(wake::Event::server_request_done);
      break;
  }
}

}  // namespace heddle::message
