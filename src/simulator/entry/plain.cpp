// Entry points: a compiler calls them before each load and store of a program that it compiles with -fsanitize=thread.
//
// The names and arguments are those of the thread sanitizer's runtime, which this library takes the place of.
#include "simulator/simulation.hpp"

namespace heddle::simulator {
namespace {

std::uintptr_t place(const void* caller) { return reinterpret_cast<std::uintptr_t>(caller); }

// Every function keeps that of its caller at the begin of its own.
const void* frame_of_caller(const void* own) { return *static_cast<const void* const*>(own); }

void access(const void* at, std::size_t bytes, Access kind, const void* caller) {
  touch(at, bytes, kind, place(caller));
  const auto first = reinterpret_cast<std::uintptr_t>(at);
  if (first / line_bytes != (first + bytes - 1) / line_bytes)
    touch(static_cast<const char*>(at) + bytes - 1, 1, kind, place(caller));
}

}  // namespace
}  // namespace heddle::simulator

using heddle::simulator::Access;
using heddle::simulator::frame_of_caller;
using heddle::simulator::self;
using heddle::simulator::trace;

extern "C" {

#define HEDDLE_ACCESSES(BYTES)                                                        \
  void __tsan_read##BYTES(void* at) {                                                 \
    heddle::simulator::access(at, BYTES, Access::read, __builtin_return_address(0));  \
  }                                                                                   \
  void __tsan_write##BYTES(void* at) {                                                \
    heddle::simulator::access(at, BYTES, Access::write, __builtin_return_address(0)); \
  }                                                                                   \
  void __tsan_unaligned_read##BYTES(void* at) {                                       \
    heddle::simulator::access(at, BYTES, Access::read, __builtin_return_address(0));  \
  }                                                                                   \
  void __tsan_unaligned_write##BYTES(void* at) {                                      \
    heddle::simulator::access(at, BYTES, Access::write, __builtin_return_address(0)); \
  }                                                                                   \
  void __tsan_volatile_read##BYTES(void* at) {                                        \
    heddle::simulator::access(at, BYTES, Access::read, __builtin_return_address(0));  \
  }                                                                                   \
  void __tsan_volatile_write##BYTES(void* at) {                                       \
    heddle::simulator::access(at, BYTES, Access::write, __builtin_return_address(0)); \
  }
HEDDLE_ACCESSES(1)
HEDDLE_ACCESSES(2)
HEDDLE_ACCESSES(4)
HEDDLE_ACCESSES(8)
HEDDLE_ACCESSES(16)
#undef HEDDLE_ACCESSES

void __tsan_read_range(void* at, unsigned long bytes) {
  heddle::simulator::touch_range(at, bytes, Access::read, heddle::simulator::place(__builtin_return_address(0)));
}
void __tsan_write_range(void* at, unsigned long bytes) {
  heddle::simulator::touch_range(at, bytes, Access::write, heddle::simulator::place(__builtin_return_address(0)));
}
void __tsan_vptr_update(void** at, void*) {
  heddle::simulator::access(at, sizeof *at, Access::write, __builtin_return_address(0));
}
void __tsan_vptr_read(void** at) {
  heddle::simulator::access(at, sizeof *at, Access::read, __builtin_return_address(0));
}

void __tsan_init() {}
void __tsan_func_entry(void*) {
  if (self == nullptr) return;
  ++self->counts.calls;
  heddle::simulator::spend(heddle::simulator::simulation->scheduler.machine().call);
  if (trace != nullptr) [[unlikely]]
    trace->enter(*self, heddle::simulator::place(__builtin_return_address(0)),
                 frame_of_caller(__builtin_frame_address(0)), heddle::simulator::simulation->scheduler.clock);
}
void __tsan_func_exit(void*) {
  if (trace != nullptr && self != nullptr) [[unlikely]]
    trace->leave(*self, frame_of_caller(__builtin_frame_address(0)), heddle::simulator::simulation->scheduler.clock);
}
}
