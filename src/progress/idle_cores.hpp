// Progress on idle cores: long messages, their handshakes and nonblocking collectives go on while the program computes, on
// cores that would idle, and only there.
//
// Source: Trahay 2009, sections 3.3 and 4.1 (PIOMan). There the thread scheduler calls the progress engine when a core has
// nothing to run. Here the kernel is that scheduler, and two threads of the library stand for the hook:
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
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>
#include <thread>

#include "lln/shm/doorbell.hpp"
#include "platform/native.hpp"
#include "progress/pass.hpp"

namespace heddle::progress {

// What is looked after.
struct Attended {
  // Any thread, without a lock: whether advance() would find something.
  virtual bool ready() const = 0;
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
  IdleCores(Attended& work, lln::shm::Doorbell& bell, const cpu_set_t& cores);
  // Returns when both threads have ended.
  ~IdleCores();
  IdleCores(const IdleCores&) = delete;
  IdleCores& operator=(const IdleCores&) = delete;

 private:
  using Native = platform::Native;
  enum Order : std::uint32_t { none, help, help_thoroughly, end };

  void finish();
  void scout();
  void look_around();
  bool send(Order order);
  void hand();
  void listen_unless_used();

  Attended& work_;
  lln::shm::Doorbell& bell_;
  const cpu_set_t cores_;
  std::atomic<bool> ending_{false};
  std::atomic<std::int64_t> used_{0};  // when the program was last seen to take messages itself
  alignas(platform::cache_line) Native::atomic<std::uint32_t> order_{none};
  bool moved_ = false;  // what came of the last order; of whoever `order_` says
  std::thread hand_;
  std::thread scout_;
};

}  // namespace heddle::progress
