// Virtual time: which thread runs, on which core, and until when.
//
// Threads of the program are kernel threads, of which one runs at a time: the one whose core is behind all others. It runs
// on while its accesses hit in its cache, at most a quantum ahead of the others; before it takes a line from another core
// it lets all that are behind catch up. So a run is a function of the program, the machine and the seed.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <queue>
#include <string>
#include <vector>

#include "simulator/counts.hpp"
#include "simulator/fuzz.hpp"
#include "simulator/machine.hpp"
#include "simulator/memory.hpp"
#include "simulator/stores.hpp"
#include "simulator/trace.hpp"

namespace heddle::simulator {

// The right to run, which one kernel thread has.
class Baton {
 public:
  void give();
  void take();

 private:
  std::atomic<std::uint32_t> here_{0};
};

struct Thread {
  explicit Thread(int its_number, unsigned cpus) : number(its_number), allowed(cpus, true) {}

  int number;
  Baton baton;
  std::uint64_t priority = 0;    // among random schedules
  Stores stores;                 // that are delayed in these
  void* const* frame = nullptr;  // of the function in which it sleeps
  unsigned cpu = 0;              // where it runs, or ran last
  std::vector<bool> allowed;     // the cores where it may run
  bool background = false;       // runs only where no other thread wants to
  int files = 0;                 // the table of descriptors that it uses: the number of the thread that has made it
  Time ready = 0;                // since then it waits for a core
  Time drained = 0;              // its store buffer is empty then
  unsigned frozen = 0;           // it holds locks of the real system: no other thread may run
  const void* waits_for = nullptr;
  const char* waits_in = nullptr;  // the function that blocks, for the report
  std::uint64_t sleep = 0;         // numbers its sleeps, so that old timers do not end new ones
  bool blocked = false;
  bool timed_out = false;
  bool timed = false;     // its sleep ends at some time
  bool external = false;  // or because of something outside
  bool over = false;
  Counts counts;
  Call call;               // while there is a trace
  void* polled = nullptr;  // the trace's entry for its last atomic operation, if that was a load
};

extern constinit thread_local Thread* self [[gnu::tls_model("initial-exec")]];

class Scheduler {
 public:
  explicit Scheduler(const Settings& settings);

  // The time of the running thread's core.
  Time clock = 0;
  Time limit = never;    // beyond it the running thread has to call catch_up()
  Time in_turn = never;  // the same before it uses a line that cores pass on

  const Machine& machine() const { return settings_.machine; }
  const Settings& settings() const { return settings_; }
  const std::vector<std::unique_ptr<Thread>>& threads() const { return threads_; }

  // A thread that does not run yet; start() makes it ready.
  Thread& add();
  void start(Thread& thread);
  // The first thread, which runs already.
  void start_first(Thread& thread);

  // Returns when no core is behind.
  void catch_up();
  // Puts the running thread to sleep until wake(what) or the time; false: it was the time. `external`: it waits for
  // something outside perhaps, so that it is no deadlock if no other thread is left.
  bool sleep(const void* what, Time until, const char* in, bool external = false);
  // Wakes up to n threads that sleep on `what`, the one that has slept longest first.
  unsigned wake(const void* what, unsigned n);
  // Wakes up to n threads, and lets up to `more` others sleep on `instead`.
  unsigned wake_and_move(const void* what, unsigned n, const void* instead, unsigned more);
  // The running thread polls: another one may have to run before it finds anything.
  void polls();
  Fuzz& fuzz() { return fuzz_; }
  // All stores that threads have delayed leave their cores.
  void publish_stores();
  // The core that a thread takes its own for.
  unsigned core_of(const Thread& thread) const { return thread.cpu % machine().cpus; }
  // Lets the next thread of this core run, if there is one.
  void yield();
  // The running thread ends; it returns without the baton.
  void end();
  // The calling thread waits for its first turn.
  void begin(Thread& thread);
  // The cores of a thread have changed.
  void moved(Thread& thread);

 private:
  struct Cpu {
    Time clock = 0;
    Thread* running = nullptr;
    std::deque<Thread*> queue;
    Time slice_began = 0;
    bool preempt = false;
  };
  struct Turn {
    std::uint64_t order;  // the core's time, or the priority of its thread
    unsigned cpu;
    bool operator>(const Turn& o) const { return order != o.order ? order > o.order : cpu > o.cpu; }
  };
  struct Timer {
    Time at;
    Thread* thread;
    std::uint64_t sleep;
    bool external;
    bool operator>(const Timer& o) const { return at != o.at ? at > o.at : thread->number > o.thread->number; }
  };
  template <class T>
  using Earliest = std::priority_queue<T, std::vector<T>, std::greater<>>;

  void give_way(
      const char* in);  // the running thread has left its core, to sleep in the function or to wait for a core
  void run_next();      // gives the baton to the core that is behind all others
  void make_ready(Thread& thread, Time at);
  void place(Thread& thread, unsigned cpu, Time at);
  void vacate(Cpu& cpu);  // its thread has left: the next one of this core, or one of another
  void rotate();          // the running thread goes to the end of its core's queue
  Thread* take_from(Cpu& cpu, unsigned for_cpu, bool background);
  unsigned choose(const Thread& thread) const;
  template <class Free>
  unsigned nearest(const Thread& thread, Free free) const;
  bool shares_core(unsigned number) const;  // another thread runs on another processor of the core
  Time rotation_of(const Cpu& cpu) const;   // when its thread has to leave it to another
  void fire_timers(Time until);
  void set_limit();
  [[noreturn]] void deadlock();
  std::string sleeping() const;  // the threads, and where
  bool only_external() const;
  void outside();  // nothing can run: looks at what happens outside

  void add_turn(unsigned cpu);
  void await_leaving();
  void change();  // the running thread gets the lowest priority

  Settings settings_;
  Fuzz fuzz_{settings_};
  Time change_at_ = never;
  std::atomic<int> leaving_{0};  // the kernel's number of a thread that has ended here and may not yet have ended there
  Time resumed_at_ = 0;          // the running thread of a random schedule
  std::vector<std::unique_ptr<Thread>> threads_;
  std::vector<Cpu> cpus_;
  Earliest<Turn> turns_;  // cores with a thread, but for the one that runs now
  Earliest<Timer> timers_;
  std::vector<Thread*> sleepers_;  // in the order in which they went to sleep
  unsigned in_vain_ = 0;           // looks outside since something ran
};

}  // namespace heddle::simulator
