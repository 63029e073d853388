// Progress on idle cores: long messages, their handshakes and nonblocking collectives go on while the program computes, on
// cores that would idle, and only there. With deferred submission the sends of the program go there too.
//
// Source: Trahay 2009, sections 3.3, 4.1 and 4.2 (PIOMan). There the thread scheduler calls the progress engine when a core
// has nothing to run. Here the kernel is that scheduler, and two threads of the library stand for the hook:
//
//   the scout  has the scheduling class that runs when nothing else wants the core (SCHED_IDLE), so where it runs a core is
//              idle; the kernel puts it on the idle core that is nearest to whoever called it. It only looks: it takes
//              no lock, claims no work, and so may lose its core at any instant without holding up anybody.
//   the hand   is an ordinary thread that the scout sends to do what there is to do, for at most `spell` at a time. Then
//              the scout has to find an idle core again.
//
// Both sleep unless there is something to look after. The rank's doorbell calls the scout: whoever sends to this rank while
// no thread of the program sleeps for it, and the program itself when it starts something long and goes on. Called, the scout
// looks around until nothing has moved for `linger`, and then sleeps again. While the program takes its messages
// itself it does not listen at all, so programs that are always in the library neither call it nor pay for it.
//
// Deferred submission (section 4.2): a nonblocking send is put on the list of its peer, as one is that finds its channel full,
// and an idle core submits it to the network, or the next wait or test of the program does. It gets there by one of two paths:
//
//   tasklet    The scout finds it and schedules it for the hand, which is woken, submits and sleeps: a switch of threads for
//              each, as the paper's tasklets cost one.
//   direct     The core that was found idle looks for what there is to submit. The hand itself looks around after what it was
//              sent for, as the scout would, until nothing has moved for `linger`, and goes when it sees that another
//              thread wants its core: a yield has run somebody.
//
// In the paper a send is deferred whether a core idles or not. Here it is only if one has been seen to within `fresh`, and
// otherwise made at once: where every core computes, nobody waits for a message that the sender could have sent. Nor are helpers
// kept awake for sends that come seldom: it takes two within `linger` to call them. The paper's direct path submits in the idle
// loop itself, without "usual locking mechanisms"; the hand takes the VNI's lock, since it is an ordinary thread.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>
#include <thread>

#include "platform/native.hpp"
#include "progress/pass.hpp"
#include "progress/setting.hpp"
#include "sync/doorbell.hpp"

namespace heddle::progress {

// What is looked after.
struct Attended {
  // Any thread, without a lock: whether advance() would find something.
  virtual bool ready() const = 0;
  // The same: whether the program has left sends to be submitted.
  virtual bool any_unsent() const = 0;
  // Messages that have been taken so far, by whomever.
  virtual std::uint32_t taken() const = 0;
  // One attempt at everything. `thorough`: misses nothing that has arrived, and peers whose channels are full will call.
  virtual Pass advance(bool thorough) = 0;

 protected:
  ~Attended() = default;
};

class IdleCores {
 public:
  // `cores`: where both threads may run. Throws std::system_error if the threads, or the scout's scheduling class,
  // can't be had.
  IdleCores(Attended& work, sync::Doorbell<platform::Native>& bell, const cpu_set_t& cores, Deferral deferral);
  // Returns when both threads have ended.
  ~IdleCores();
  IdleCores(const IdleCores&) = delete;
  IdleCores& operator=(const IdleCores&) = delete;

  // Any thread, about to send: whether an idle core would submit what is left to it now. Asking twice within `linger` calls the
  // scout if it sleeps.
  bool at_hand();
  // Nobody will look before the next call. Whoever has left something and then, behind a fence, sees this must ring.
  bool asleep() const { return seen_.load(std::memory_order_relaxed) == nobody_looks; }

 private:
  using Native = platform::Native;
  enum Order : std::uint32_t { none, help, help_thoroughly, end };

  static constexpr std::int64_t nobody_looks = 0;
  static constexpr std::int64_t long_ago = 1;

  void finish();
  void scout();
  void hand();
  bool send(Order order);
  bool carry_out(Order order);
  bool stay();
  template <class Keep, class Act>
  bool look_around(Keep&& keep, Act&& act);
  void listen_unless_used();

  Attended& work_;
  sync::Doorbell<platform::Native>& bell_;
  const cpu_set_t cores_;
  const bool direct_;
  std::atomic<bool> ending_{false};
  std::atomic<std::int64_t> used_{0};   // when the program was last seen to take messages itself
  std::atomic<std::int64_t> asked_{0};  // when it was last about to send
  // When a core was last seen to idle.
  alignas(platform::cache_line) std::atomic<std::int64_t> seen_{nobody_looks};
  alignas(platform::cache_line) Native::atomic<std::uint32_t> order_{none};
  bool moved_ = false;  // what came of the last order; of whoever `order_` says
  std::thread hand_;
  std::thread scout_;
};

}  // namespace heddle::progress
