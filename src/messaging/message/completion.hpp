// Completion of a request, and the wake-up of the thread that waits for it. With the VNI's lock held, unless a comment says otherwise.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/instruments/cells.hpp"
#include "base/safety/waiter.hpp"
#include "messaging/wake/wake.hpp"
#include "objects/datatype/datatype.hpp"
#include "objects/object/request.hpp"

namespace heddle::message {

class Completion {
 public:
  // Request::done of a receive that is still posted, but for which MPIX_ERR_PROC_FAILED_PENDING has been reported.
  static constexpr std::uint32_t reported_pending = 2;

  Completion(wake::Wake& wake, instruments::Counters& counters) : wake_(wake), counters_(counters) {}

  // Marks a request complete and wakes the thread that waits for it.
  [[gnu::always_inline]] void finish(Request& request, Wakeups& wakeups) {
    if (request.datatype != nullptr) release(*request.datatype);
    if (request.owner != Owner::program) [[unlikely]]
      return finish_without_waiter(request, wakeups);
    set_done(request, 1, wakeups);
  }
  // Sets `done` and wakes the thread that the request's owner (Owner) names. It does so whichever thread has completed the request.
  // finish() takes the same decision inline.
  void report(Request& request, std::uint32_t done, Wakeups& wakeups);
  // Counts one event for a waiting thread, and wakes the thread with its last event.
  void signal(Waiter& waiter, Wakeups& wakeups);

  // Completes a receive with an eager message of `bytes` bytes.
  [[gnu::always_inline]] void deliver(Request& receive, const std::byte* payload, std::size_t bytes, Wakeups& wakeups) {
    if (bytes > receive.capacity) [[unlikely]] {
      truncate(receive, bytes);
      bytes = receive.capacity;
    }
    receive.bytes = bytes;
    unpack(*receive.datatype, receive.buffer, receive.count, 0, payload, bytes);
    finish(receive, wakeups);
  }
  // The message is longer than the receive buffer.
  static void truncate(Request& receive, std::size_t message_bytes) {
    receive.error = MPI_ERR_TRUNCATE;
    receive.receive.message_bytes = message_bytes;
  }
  // Completes a receive without a message.
  void fail_receive(Request& receive, int error, Wakeups& wakeups) {
    receive.error = error;
    receive.receive.age = 0;
    finish(receive, wakeups);
  }
  // A receive that MPIX_ERR_PROC_FAILED_PENDING was reported for is pending again. `error` stays until VniState::resolve(): a call that
  // has seen the report finds an error, and calls resolve().
  static void withdraw_report(Request& receive) {
    if (receive.done.load(std::memory_order_relaxed) == reported_pending)
      receive.done.store(0, std::memory_order_relaxed);
  }

 private:
  [[gnu::always_inline]] void set_done(Request& request, std::uint32_t done, Wakeups& wakeups) {
    Waiter* const waiter = std::exchange(request.waiter, nullptr);
    request.done.store(done, std::memory_order_release);  // from here on the request belongs to its owner
    if (waiter != nullptr) signal(*waiter, wakeups);
  }
  void finish_without_waiter(Request& request, Wakeups& wakeups);

  wake::Wake& wake_;
  instruments::Counters& counters_;
};

}  // namespace heddle::message
