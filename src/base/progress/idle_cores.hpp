// Progress on idle cores: long messages, their handshakes and nonblocking collectives go on while the program computes,
// on cores that would idle, and only there. With deferred submission the sends of the program go there too.
//
// Source: Trahay 2009, sections 3.3, 4.1 and 4.2 (PIOMan). There the thread scheduler calls the progress engine when a
// core has nothing to run. Here the kernel is that scheduler, and two threads of the library stand for the hook:
//
//   the detector  has the scheduling class that runs when nothing else wants the core (SCHED_IDLE), so where it runs a core is
//                 idle; the kernel puts it on the idle core that is nearest to its caller. It only polls: it takes
//                 no lock, claims no work, and so may lose its core at any instant without delaying any thread.
//   the worker    is an ordinary thread that the detector calls to do the work, for at most `max_slice` at a time.
//                 Then the detector has to find an idle core again.
//
// Both sleep unless there is work. The rank's doorbell calls the detector: by senders to this rank while no thread of
// the program sleeps for it, and by the program itself when it starts something long and goes on. Called, the detector
// polls until nothing has moved for `idle_timeout`, and then sleeps again. While the program takes its messages itself
// it does not listen at all, and seldom checks if that is still so: programs that are always in the library do not call
// it, and keep the cache lines in which they count what they take.
//
// Deferred submission (section 4.2): a nonblocking send is put on the list of its peer, as one is that finds its
// channel full, and an idle core submits it to the network, or the next wait or test of the program does. It gets there
// by one of two paths:
//
//   tasklet    The detector finds it and schedules it for the worker, which is woken, submits and sleeps: a switch of threads for
//              each, as the paper's tasklets cost one.
//   direct     The idle core finds and submits the sends. The worker itself polls after its first order,
//              as the detector would, until nothing has moved for `idle_timeout`, and sleeps when it sees that another
//              thread wants its core: that thread has run in a yield.
//
// In the paper a send is deferred whether a core idles or not. Here it is only if one has been seen to within `fresh`,
// and otherwise made at once: where every core computes, no receiver waits for a message that the sender could have
// sent. Nor while a thread of the rank sleeps until something moves, since any thread may take that core at any time.
// Nor do progress threads keep running for rare sends: it takes two within `idle_timeout` to call them. The paper's
// direct path submits in the idle loop itself, without "usual locking mechanisms"; the worker takes the VNI's lock,
// since it is an ordinary thread.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>
#include <thread>

#include "base/platform/native.hpp"
#include "base/progress/poll_result.hpp"
#include "base/progress/setting.hpp"
#include "base/sync/doorbell.hpp"
#include "base/sync/errand.hpp"

namespace heddle::progress {

// The work for idle cores.
struct Attended {
  // Any thread, without a lock: true if advance() would find something.
  virtual bool ready() const = 0;
  // True if arrivals ring the bell only once advance(full) has asked for it: they may come from another node.
  virtual bool must_ask() const = 0;
  // Any thread, without a lock: true if the program has deferred sends.
  virtual bool any_unsent() const = 0;
  // Messages taken so far, by any thread.
  virtual std::uint32_t taken() const = 0;
  // One attempt at everything. `full`: misses nothing that has arrived, and peers whose channels are full will call.
  virtual PollResult advance(bool full) = 0;

 protected:
  ~Attended() = default;
};

class IdleCores {
  using Native = platform::Native;

 public:
  // `cores`: the cores for both threads. Throws std::system_error if the threads, or the detector's scheduling class,
  // are not available.
  IdleCores(Attended& work, sync::Doorbell<platform::Native>& bell, const cpu_set_t& cores, Deferral deferral);
  // Returns when both threads have ended.
  ~IdleCores();
  IdleCores(const IdleCores&) = delete;
  IdleCores& operator=(const IdleCores&) = delete;

  // Any thread, about to send: true if an idle core would submit a deferred send now. Asking twice within
  // `idle_timeout` calls the detector if it sleeps.
  bool available();
  // The same thread, some time before: fetches an idle core's publication into its cache.
  void fetch_for_question() const { Native::prefetch(&seen_); }
  // No thread will poll before the next call. A thread that has deferred work and then, behind a fence, sees this must
  // ring.
  bool blocked() const { return seen_.load(std::memory_order_relaxed) == not_polling; }

 private:
  enum Order : std::uint32_t { help = 1, help_fully, end };

  static constexpr std::int64_t not_polling = 0;
  static constexpr std::int64_t long_ago = 1;

  void finish();
  void detect();
  void work_for_detector();
  bool send(Order order);
  bool carry_out(Order order);
  bool stay();
  template <class Keep, class Act>
  bool poll_around(Keep&& keep, Act&& act);
  void listen_unless_used();

  Attended& work_;
  sync::Doorbell<platform::Native>& bell_;
  const cpu_set_t cores_;
  const bool direct_;
  const std::int64_t used_gap_;  // ns from one poll to the next of a program that takes its messages itself
  std::atomic<bool> ending_{false};
  std::atomic<std::int64_t> used_{0};   // when the program was last seen to take messages itself
  std::atomic<std::int64_t> asked_{0};  // when it was last about to send
  // When a core was last seen to idle, give or take `saying_gap`.
  alignas(platform::cache_line) std::atomic<std::int64_t> seen_{not_polling};
  alignas(platform::cache_line) sync::Errand<Native> errand_;  // of the worker; its result: true if it moved anything
  std::thread worker_;
  std::thread detector_;
};

}  // namespace heddle::progress
