// The only place that decides which threads of a rank an event wakes.
//
// A thread that polls finds work by itself, and needs no wake-up. A thread that leaves work, or causes an event for which another thread may
// be blocked, calls on(). The table names the action for each event. The effect of a ring depends on the threads of the rank:
//
//   where the threads of the rank are                                     a ring of the doorbell
//   a thread polls                                                        does nothing: the count of blocked threads is 0
//   blocked on the doorbell: the server, a thread that waits for a        wakes them all
//     condition, a thread of the library that serves
//   blocked on a counter: waiters that are not the server                 wakes the server, which polls for them
//   suspended: user-level threads, waiters or listeners                   wakes the fallback progress thread, which polls, and resumes listeners
//   outside MPI, and the idle-core detector listens                       calls the detector
//   outside MPI, and no thread of the library listens                     does nothing: the timer of the network watch, or the next call
//
// A waiter whose last request completes is woken by its counter (message/completion.hpp), without an event. Other ranks ring this rank's
// doorbell when they store something for it (lln::Route::wake).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/node/node.hpp"
#include "base/platform/native.hpp"
#include "base/safety/roles.hpp"
#include "base/safety/waiter.hpp"
#include "network/watch.hpp"

namespace heddle::wake {

enum class Event : std::uint8_t {
  // ---- of a VNI, with its lock held
  library_operation_done,
  server_request_done,
  probed_message,
  transfer_started,
  pieces_cleared,
  send_deferred,
  send_without_room,
  send_without_room_away,
  rest_without_room,
  packet_held,
  followed_send_left,
  // ---- of the engine
  backlog_left,
  work_for_communication_thread,
  schedule_moved,
  program_work,
  doorbell_rang,
  program_left,
  program_left_network,
  service_ended,
};

// The effect at the rank's doorbell.
enum class Ring : std::uint8_t {
  none,
  blocked,   // wakes threads that are blocked there, or else calls the detector that listens
  always,    // the same; a thread that polls sees that the bell has rung, too
  detector,  // calls the detector, if no thread is blocked
};
// The timer of the network watch for work that no thread may poll for.
enum class Timer : std::uint8_t { none, sending, polling };

struct Action {
  Event event;
  Ring ring;
  Timer timer;
  bool server;          // a waiting thread of the program serves again, or goes on to serve
  bool listeners;       // resumes the user-level threads that wait for a condition
  const char* happens;  // for the documents
};

inline constexpr std::array<Action, 19> actions{{
    {Event::library_operation_done, Ring::blocked, Timer::none, false, false, "an operation of the library completes"},
    {Event::server_request_done, Ring::blocked, Timer::none, false, false, "the last request of a server completes"},
    {Event::probed_message, Ring::always, Timer::none, false, false,
     "an unexpected message arrives while threads are blocked in a probe"},
    {Event::transfer_started, Ring::blocked, Timer::none, false, false, "the data of a long message can be copied"},
    {Event::pieces_cleared, Ring::blocked, Timer::none, false, false,
     "a peer on another node asks for pieces of a long message"},
    {Event::send_deferred, Ring::blocked, Timer::none, false, false,
     "a send is left to an idle core, and no idle core polls"},
    {Event::send_without_room, Ring::blocked, Timer::none, false, false, "a message within the node finds no room"},
    {Event::send_without_room_away, Ring::blocked, Timer::sending, false, false,
     "a message to another node finds no room"},
    {Event::rest_without_room, Ring::blocked, Timer::none, false, false,
     "a poll sends a part of what waits for other nodes"},
    {Event::packet_held, Ring::none, Timer::sending, false, false, "a message waits to share a packet"},
    {Event::followed_send_left, Ring::blocked, Timer::none, false, false,
     "a send has left that one through another VNI follows"},
    {Event::backlog_left, Ring::blocked, Timer::none, false, false, "a thread stops polling and leaves work in a VNI"},
    {Event::work_for_communication_thread, Ring::blocked, Timer::none, false, false,
     "a thread needs the communication thread (model `offload`)"},
    {Event::schedule_moved, Ring::blocked, Timer::none, false, false,
     "a schedule moves that another thread may have skipped"},
    {Event::program_work, Ring::blocked, Timer::none, true, true,
     "a thread of the library makes progress, and some schedules are for threads of the program"},
    {Event::doorbell_rang, Ring::none, Timer::none, false, true,
     "the fallback progress thread sees that the doorbell has rung"},
    {Event::program_left, Ring::detector, Timer::none, false, false,
     "a thread leaves MPI, and operations that it began need progress"},
    {Event::program_left_network, Ring::none, Timer::polling, false, false,
     "a thread leaves MPI, and only the network may bring work"},
    {Event::service_ended, Ring::blocked, Timer::none, false, false, "the last window with a service thread is freed"},
}};

constexpr const Action& action(Event event) { return actions[static_cast<std::size_t>(event)]; }

class Wake {
 public:
  // `watch`: of the rank's networks; null: the job has one node.
  Wake(node::Doorbell& bell, lln::Watch* watch) : bell_(bell), watch_(watch) {}
  Wake(const Wake&) = delete;
  Wake& operator=(const Wake&) = delete;

  // Any thread, after the store that makes the event visible.
  [[gnu::always_inline]] void on(Event event) {
    const Action& what = action(event);
    if (what.server) roles_.call_server();
    if (what.listeners) roles_.call_listeners();
    switch (what.ring) {
      case Ring::none:
        break;
      case Ring::blocked:
        bell_.wake_blocked();
        break;
      case Ring::always:
        bell_.ring();
        break;
      case Ring::detector:
        call_detector();
        break;
    }
    set_timer(what.timer);
  }
  // The same where the ring, which may be a system call, is put off until the caller has released the lock of its VNI. Not for
  // Ring::always and Ring::detector.
  [[gnu::always_inline]] void on(Event event, Wakeups& wakeups) {
    const Action& what = action(event);
    if (what.ring == Ring::blocked) wakeups.add(bell_);
    set_timer(what.timer);
  }

  // For OffloadAccess: the caller has queued work.
  void wake() { on(Event::work_for_communication_thread); }

  // Any thread: whether a thread of the rank is blocked on the doorbell, or is about to block.
  bool any_blocked() const { return bell_.any_thread_sleeps(); }
  // Which of the waiting threads is the server.
  Roles& roles() { return roles_; }

 private:
  void call_detector() {
    platform::Native::light_fence();
    if (bell_.blocked.load(std::memory_order_relaxed) == node::Doorbell::progress_thread_listens) [[unlikely]]
      bell_.ring();
  }
  [[gnu::always_inline]] void set_timer(Timer timer) {
    if (timer == Timer::sending) watch_->schedule_sending();
    if (timer == Timer::polling) watch_->schedule_polling();
  }

  node::Doorbell& bell_;
  lln::Watch* const watch_;
  Roles roles_;
};

// The table is in the order of the events.
static_assert([] {
  for (std::size_t i = 0; i < actions.size(); ++i)
    if (static_cast<std::size_t>(actions[i].event) != i) return false;
  return true;
}());

}  // namespace heddle::wake
