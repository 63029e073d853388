// A seat: the part of a process that a rank which is a thread has of its own: its copy of the program, its environment,
// its standard streams, its exit handlers.
//
// A seat is taken by the rank's first thread and stays as long as the host. Threads that a rank creates belong to its
// seat; a thread without one is the host's own, or one that libc has made for itself.
#pragma once

#include <pthread.h>
#include <setjmp.h>
#include <sys/types.h>

#include <array>
#include <atomic>

#include "launch/boot/host_plan.hpp"
#include "launch/boot/job.hpp"
#include "launch/host/environment.hpp"
#include "launch/host/exit_handlers.hpp"
#include "launch/host/images.hpp"
#include "launch/host/libc_state.hpp"
#include "launch/host/opened.hpp"
#include "launch/host/signals.hpp"
#include "launch/host/streams.hpp"
#include "launch/host/timers.hpp"
#include "launch/host/variables.hpp"

namespace heddle {
struct Rank;
}

namespace heddle::host {

struct Seat {
  boot::HostedRank place;
  boot::RankRecord* record = nullptr;
  Rank* rank = nullptr;
  std::atomic<pid_t> first_thread{0};  // the kernel's number, which the rank's program takes for its pid
  std::atomic<int> threads{0};         // that run, the first one included
  std::atomic<bool> over{false};       // the rank has ended; threads may be left
  std::atomic<pid_t> exiting{0};       // the thread that runs the exit handlers
  bool own_directory = false;          // the working directory is this rank's own

  Variables variables;  // libc's, as the program sees them
  Environment environment{variables};
  Streams streams{variables};
  ExitHandlers exit_handlers;
  Images images;  // the copies of the program and of its private libraries
  Opened opened;
  LibcState libc;
  SignalActions signals;
  Alarm alarm;
  Seat* next = nullptr;  // the next one that receives signals
};

// The host's data of the calling thread.
struct ThreadExit;
struct Thread {
  Seat* seat = nullptr;
  jmp_buf* base = nullptr;              // the frame where the thread ends
  ThreadExit* exit_handlers = nullptr;  // destructors of its thread_local objects, newest first
  void* signal_stack = nullptr;
};
[[gnu::tls_model("initial-exec")]] extern constinit thread_local Thread this_thread;

// The calling thread becomes one of this seat: until it ends it has the seat's thread-local variables.
void enter(Seat& seat, Thread& thread);

}  // namespace heddle::host
