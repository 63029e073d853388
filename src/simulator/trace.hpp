// The trace of a part of a run, for `heddle simulate --trace`: MPI calls, sleeps, transfers of cache lines, and atomic operations, from which
// heddle simulate makes out when locks were held (tools/heddle_tool/simulate/trace.py).
//
// A trace takes no virtual time and none of the program's memory, so a run is the same with and without one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "simulator/machine.hpp"
#include "simulator/memory.hpp"

namespace heddle::simulator {

class Files;
struct Thread;

// The MPI call in which a thread is.
struct Call {
  const char* name = nullptr;   // null: in none
  const void* frame = nullptr;  // of the function
  Time began = 0;
};

class Trace {
 public:
  explicit Trace(const Settings& settings);

  // `frame` is that of the function with the address `pc`, which the thread enters or leaves.
  void enter(Thread& thread, std::uintptr_t pc, const void* frame, Time now);
  void leave(Thread& thread, const void* frame, Time now);
  // It slept in the function `in` since `start`, or, if that is null, waited for its core.
  void waited(const Thread& thread, unsigned cpu, Time start, Time end, const char* in);
  void transferred(const Thread& thread, const Transfer& transfer);
  // An atomic operation at the byte that `place` identifies.
  void performed(Thread& thread, std::uint64_t place, Access access, std::uintptr_t pc, Time now);
  // A mutex of libc.
  void locked(const Thread& thread, std::uint64_t place, bool taken, Time now);

  void write(std::FILE* to, Files& files) const;

 private:
  enum class Kind : std::uint8_t { call, sleep, ready, line, atomic, lock, unlock };
  struct Event {
    Time start;
    Time end;
    Kind kind;
    Access access;
    std::uint16_t cpu;
    std::uint16_t giver;  // of a line
    int thread;
    const char* name;  // of a call; where a thread sleeps
    std::uintptr_t pc;
    std::uint64_t place;  // Memory::identity
  };
  Event* add(const Event& event);
  const char* mpi_function(std::uintptr_t pc);

  static constexpr std::size_t most = 400'000;
  static constexpr std::size_t late_calls = 10'000;
  static constexpr std::size_t functions = 1 << 16;  // whose names are kept
  struct Function {
    std::uintptr_t pc;
    const char* name;
  };
  Time from_;
  Time until_;
  Event* events_;
  Function* functions_;
  std::size_t count_ = 0;
  Time full_ = never;  // the time when there was no more room
};

extern Trace* trace;  // null: there is none

}  // namespace heddle::simulator
