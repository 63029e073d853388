// Entry points: a compiler calls them in place of each atomic operation of a program that it compiles with -fsanitize=thread.
//
// The operation is done here, when it is the caller's turn in virtual time. A locked instruction, and a sequentially consistent
// store is one, waits until the store buffer is empty (touch()). While schedules are random other stores are delayed (stores.hpp).
#include "simulator/simulation.hpp"

namespace heddle::simulator {
namespace {

constexpr int strongest = __ATOMIC_SEQ_CST;

std::uintptr_t place(const void* caller) { return reinterpret_cast<std::uintptr_t>(caller); }

// Its turn has come when this returns.
void begin(const volatile void* at, std::size_t bytes, Access access, const void* caller) {
  touch(at, bytes, access, place(caller));
  if (trace != nullptr && self != nullptr) [[unlikely]]
    trace->performed(*self, simulation->memory.identity(reinterpret_cast<std::uintptr_t>(at)), access, place(caller),
                     simulation->scheduler.clock);
}

template <class T>
T load(const volatile T* at, const void* caller) {
  if (self != nullptr && !self->stores.empty()) {
    if (T value; self->stores.newest(at, value)) return value;
  }
  begin(at, sizeof *at, Access::read, caller);
  return __atomic_load_n(at, strongest);
}

template <class T>
void store(volatile T* at, T value, int order, const void* caller) {
  begin(at, sizeof *at, order == strongest ? Access::update : Access::write, caller);
  if (self != nullptr && order != strongest && simulation->scheduler.fuzz().on() &&
      (!self->stores.empty() || simulation->scheduler.fuzz().delays())) {
    self->stores.add(at, value, order != __ATOMIC_RELAXED);
    return;
  }
  __atomic_store_n(at, value, strongest);
}

template <class T>
int compare_exchange(volatile T* at, T* expected, T desired, const void* caller) {
  begin(at, sizeof *at, Access::update, caller);
  const bool done = __atomic_compare_exchange_n(at, expected, desired, false, strongest, strongest);
  if (!done && self != nullptr) ++self->counts.failed_exchanges;
  return done ? 1 : 0;
}

void fence(int order) {
  if (self == nullptr || order != strongest) return;
  ++self->counts.fences;
  drain();
  spend(simulation->scheduler.machine().fence);
}

}  // namespace
}  // namespace heddle::simulator

using heddle::simulator::Access;
using heddle::simulator::strongest;

extern "C" {

#define HEDDLE_UPDATE(BITS, TYPE, NAME, OPERATION)                                         \
  TYPE __tsan_atomic##BITS##_##NAME(volatile TYPE* at, TYPE value, int) {                  \
    heddle::simulator::begin(at, sizeof *at, Access::update, __builtin_return_address(0)); \
    return OPERATION(at, value, strongest);                                                \
  }
#define HEDDLE_ATOMICS(BITS, TYPE)                                                                               \
  TYPE __tsan_atomic##BITS##_load(const volatile TYPE* at, int) {                                                \
    return heddle::simulator::load(at, __builtin_return_address(0));                                             \
  }                                                                                                              \
  void __tsan_atomic##BITS##_store(volatile TYPE* at, TYPE value, int order) {                                   \
    heddle::simulator::store(at, value, order, __builtin_return_address(0));                                     \
  }                                                                                                              \
  int __tsan_atomic##BITS##_compare_exchange_strong(volatile TYPE* at, TYPE* expected, TYPE desired, int, int) { \
    return heddle::simulator::compare_exchange(at, expected, desired, __builtin_return_address(0));              \
  }                                                                                                              \
  int __tsan_atomic##BITS##_compare_exchange_weak(volatile TYPE* at, TYPE* expected, TYPE desired, int, int) {   \
    return heddle::simulator::compare_exchange(at, expected, desired, __builtin_return_address(0));              \
  }                                                                                                              \
  TYPE __tsan_atomic##BITS##_compare_exchange_val(volatile TYPE* at, TYPE expected, TYPE desired, int, int) {    \
    heddle::simulator::compare_exchange(at, &expected, desired, __builtin_return_address(0));                    \
    return expected;                                                                                             \
  }                                                                                                              \
  HEDDLE_UPDATE(BITS, TYPE, exchange, __atomic_exchange_n)                                                       \
  HEDDLE_UPDATE(BITS, TYPE, fetch_add, __atomic_fetch_add)                                                       \
  HEDDLE_UPDATE(BITS, TYPE, fetch_sub, __atomic_fetch_sub)                                                       \
  HEDDLE_UPDATE(BITS, TYPE, fetch_and, __atomic_fetch_and)                                                       \
  HEDDLE_UPDATE(BITS, TYPE, fetch_or, __atomic_fetch_or)                                                         \
  HEDDLE_UPDATE(BITS, TYPE, fetch_xor, __atomic_fetch_xor)                                                       \
  HEDDLE_UPDATE(BITS, TYPE, fetch_nand, __atomic_fetch_nand)
HEDDLE_ATOMICS(8, unsigned char)
HEDDLE_ATOMICS(16, unsigned short)
HEDDLE_ATOMICS(32, unsigned)
HEDDLE_ATOMICS(64, unsigned long)
#undef HEDDLE_ATOMICS
#undef HEDDLE_UPDATE

void __tsan_atomic_thread_fence(int order) { heddle::simulator::fence(order); }
void __tsan_atomic_signal_fence(int) {}
}
