// Signals of a rank that is a thread: its program's actions for them, and the report of a death.
//
// The kernel has one action per process, so a signal for which any rank has an action is handled here: the handler
// finds the receiving rank. A signal that was sent to a thread, or that a thread has caused, is its rank's; one that
// was sent to the process is passed on to each of its ranks.
#pragma once

#include <signal.h>

#include <array>
#include <mutex>

namespace heddle::host {

struct Seat;

class SignalActions {
 public:
  SignalActions();  // signals ignored at the start of the host stay ignored

  // All of them block signals meanwhile: a handler that interrupts may call them, too.
  struct sigaction get(int signal) const;
  void set(int signal, const struct sigaction& action);
  // For a handler that is about to run: the action, and the default from now on if it wants to run once.
  struct sigaction take(int signal);

 private:
  mutable std::mutex mutex_;
  std::array<struct sigaction, NSIG> actions_{};  // all default
};

// Records the rank when a signal ends the process. Once, by the host's first thread.
void watch_for_deaths();
// This rank gets signals that are sent to the process.
void receive_signals(Seat& seat);
// For a thread of a rank: a stack for its death, if its own is full; and back.
void take_signal_stack();
void give_back_signal_stack();

}  // namespace heddle::host
