#include "simulator/simulation.hpp"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "simulator/kernel/real.hpp"
#include "simulator/report.hpp"

namespace heddle::simulator {

Simulation* simulation = nullptr;

namespace {

// It is the thread's turn.
void fetch(std::uintptr_t address, Access access, std::uintptr_t pc) {
  Thread& me = *self;
  Scheduler& scheduler = simulation->scheduler;
  const Machine& machine = scheduler.machine();
  if (access == Access::write) {
    // A full store buffer: the oldest of its stores has to be done.
    const Time most = machine.stores * machine.latency[static_cast<std::size_t>(Distance::cluster)];
    if (me.drained > scheduler.clock + most) scheduler.clock = me.drained - most;
  }
  const Memory::Fetched got = simulation->memory.fetch(me.cpu, address, access, scheduler.clock, pc);
  ++me.counts.misses[static_cast<std::size_t>(access)][static_cast<std::size_t>(got.from)];
  if (got.misses != nullptr && got.misses->stack == nullptr) {
    self = nullptr;  // the unwinder takes no virtual time
    got.misses->stack = simulation->stacks.take(address, pc);
    self = &me;
  }
  if (access == Access::write)
    me.drained = std::max(me.drained, got.end);
  else
    scheduler.clock = got.end;
  simulation->memory.train(me.cpu, address, access, scheduler.clock, pc);
}

}  // namespace

void miss(std::uintptr_t address, Access access, std::uintptr_t pc) {
  Scheduler& scheduler = simulation->scheduler;
  scheduler.catch_up();
  if (simulation->memory.hits(self->cpu, address, access, scheduler.clock, pc)) return;
  fetch(address, access, pc);
  if (access != Access::write) scheduler.catch_up();  // done when the line is there
}

void touch_range(const void* at, std::size_t bytes, Access access, std::uintptr_t pc) {
  if (self == nullptr || bytes == 0) return;
  self->stores.leave_all();  // that the range may overlap
  Scheduler& scheduler = simulation->scheduler;
  const auto begin = reinterpret_cast<std::uintptr_t>(at);
  touch(at, 1, access, pc);
  const Time most = scheduler.machine().copied_line;
  for (std::uintptr_t line = begin / line_bytes + 1; line * line_bytes < begin + bytes; ++line) {
    const std::uintptr_t address = line * line_bytes;
    if (!begin_access(address, 1, access)) continue;
    Time at = scheduler.clock;
    if (!simulation->memory.hits(self->cpu, address, access, scheduler.clock, pc)) {
      scheduler.catch_up();  // others may run: their time counts in full
      at = scheduler.clock;
      fetch(address, access, pc);
    }
    scheduler.clock = std::min(scheduler.clock, at + most);
  }
}

void publish_some_stores(std::uintptr_t address, std::size_t bytes, Access access) {
  Stores& stores = self->stores;
  Fuzz& fuzz = simulation->scheduler.fuzz();
  if (access == Access::update || stores.touches(address, bytes))
    stores.leave_all();
  else if (fuzz.leaves())
    stores.leave_one(simulation->scheduler.settings().weak ? fuzz.below(64) : 0);
}

void drain() {
  if (self != nullptr) self->stores.leave_all();
  if (self != nullptr && self->drained > simulation->scheduler.clock) simulation->scheduler.clock = self->drained;
}

void enter_kernel(Time cost) {
  ++self->counts.system_calls;
  drain();
  spend(cost);
  simulation->scheduler.catch_up();
}

void stop(const std::string& text) {
  const std::string line = "simulator: " + text + "\n";
  system_call(SYS_write, STDERR_FILENO, reinterpret_cast<long>(line.data()), static_cast<long>(line.size()));
  finish();
  system_call(SYS_exit_group, 70);
  __builtin_unreachable();
}

void finish() {
  if (simulation == nullptr) return;
  static bool done = false;
  if (done) return;
  done = true;
  trace = nullptr;
  self = nullptr;  // what writes the report may be the program's own
  if (!simulation->scheduler.settings().report.empty()) write_report(*simulation);
}

namespace {

void in_child() {
  simulation = nullptr;
  self = nullptr;
}

struct Beginning {
  Beginning() {
    const char* const settings = getenv("HEDDLE_SIMULATION");
    if (settings == nullptr) return;
    // One core, or the kernel would move threads about when they hand the baton on.
    const int here = sched_getcpu();
    unsigned long mask[16] = {};
    if (here >= 0 && here < 1024) {
      mask[here / 64] = 1UL << (here % 64);
      system_call(SYS_sched_setaffinity, 0, sizeof mask, reinterpret_cast<long>(mask));
    }
    // mpiexec ends a host whose ranks are over. It has a report to write first.
    std::signal(SIGTERM, SIG_IGN);
    auto* const made = new Simulation(read_settings(settings));
    Thread& first = made->scheduler.add();
    simulation = made;
    self = &first;
    made->scheduler.start_first(first);
    if (made->scheduler.settings().trace) {
      trace = &made->history;
      made->memory.watch = [](const Transfer& transfer) { trace->transferred(*self, transfer); };
    }
    pthread_atfork(nullptr, nullptr, in_child);
  }
  ~Beginning() { finish(); }
};
const Beginning beginning;

}  // namespace

}  // namespace heddle::simulator
