// The instructions that a compiler does not announce: the library asks for them here (base/platform/instructions.hpp).
#include "simulator/instructions.hpp"

#include "simulator/simulation.hpp"

namespace heddle::simulator {
namespace {

void ask_for(const void* line, Access access) {
  if (self != nullptr && !simulation->scheduler.fuzz().on())
    simulation->memory.prefetch(self->cpu, reinterpret_cast<std::uintptr_t>(line), access, simulation->scheduler.clock);
}

}  // namespace
}  // namespace heddle::simulator

using heddle::simulator::Access;
using heddle::simulator::self;
using heddle::simulator::simulation;

extern "C" {

void heddle_simulated_pause() {
  if (self == nullptr) return;
  ++self->counts.pauses;
  heddle::simulator::spend(simulation->scheduler.machine().pause);
  simulation->scheduler.polls();
}

unsigned long heddle_simulated_ticks() {
  if (self == nullptr) return __builtin_ia32_rdtsc();
  auto& scheduler = simulation->scheduler;
  scheduler.clock += scheduler.machine().tick * 20;  // what reading it takes on most machines
  scheduler.catch_up();                              // a reading is no earlier than those before it on other cores
  // Never the same twice: two readings that are ordered are ordered by more than a tick.
  return scheduler.clock / scheduler.machine().tick + 1;
}

void heddle_simulated_prefetch(const void* line) { heddle::simulator::ask_for(line, Access::read); }
void heddle_simulated_prefetch_for_write(const void* line) { heddle::simulator::ask_for(line, Access::write); }
}
