// The simulation of this process, and how its threads act in it.
//
// A process is simulated if HEDDLE_SIMULATION names a file of settings when it is loaded; else every function here and
// every entry point does nothing but what the real one does. So do threads that were not created by the program.
#pragma once

#include <cstdint>

#include "simulator/memory.hpp"
#include "simulator/scheduler.hpp"
#include "simulator/stacks.hpp"

namespace heddle::simulator {

struct Simulation {
  explicit Simulation(const Settings& settings) : scheduler(settings), memory(scheduler.machine()), history(settings) {}
  Scheduler scheduler;
  Memory memory;
  Stacks stacks;
  Trace history;
};

extern Simulation* simulation;  // null: this process is not simulated

// Accesses bytes of one cache line in virtual time, and returns when it is the caller's turn to do it in fact.
inline void touch(const volatile void* at, std::size_t bytes, Access access, std::uintptr_t pc);
// As many bytes in a row, faster than one by one: the next lines are on their way already.
void touch_range(const void* at, std::size_t bytes, Access access, std::uintptr_t pc);
// After all stores so far.
void drain();
// Lets time pass for the calling thread.
inline void spend(Time time) { simulation->scheduler.clock += time; }
// For a system call: time passes, and all that others did before it has happened.
void enter_kernel(Time cost);
// Identifies the word to all threads that sleep on it, at whichever address they have mapped it.
inline const void* name_of(const volatile void* word) {
  return reinterpret_cast<const void*>(simulation->memory.identity(reinterpret_cast<std::uintptr_t>(word)) |
                                       std::uintptr_t{1} << 62);
}

// Writes the report, once. Called where the process may end.
void finish();

// While schedules are random: some of the caller's delayed stores leave; all of them at a locked instruction, or if the access is to
// what they have stored.
void publish_some_stores(std::uintptr_t address, std::size_t bytes, Access access);
void miss(std::uintptr_t address, Access access, std::uintptr_t pc);

// Counts an access of the running thread, and returns when it is its turn. False: the memory takes no part in this run.
inline bool begin_access(std::uintptr_t address, std::size_t bytes, Access access) {
  Thread* const me = self;
  Scheduler& scheduler = simulation->scheduler;
  ++me->counts.performed[static_cast<std::size_t>(access)];
  scheduler.clock += access == Access::update ? scheduler.machine().atomic : scheduler.machine().access;
  if (scheduler.clock > scheduler.limit) [[unlikely]]
    scheduler.catch_up();
  if (access == Access::update && me->drained > scheduler.clock) scheduler.clock = me->drained;
  if (scheduler.fuzz().on()) [[unlikely]] {
    if (!me->stores.empty()) publish_some_stores(address, bytes, access);
    return false;
  }
  return true;
}

inline void touch(const volatile void* at, std::size_t bytes, Access access, std::uintptr_t pc) {
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  if (self == nullptr || !begin_access(address, bytes, access)) return;
  Scheduler& scheduler = simulation->scheduler;
  if (!simulation->memory.hits(self->cpu, address, access, scheduler.clock, pc, scheduler.in_turn)) [[unlikely]]
    miss(address, access, pc);
}

}  // namespace heddle::simulator
