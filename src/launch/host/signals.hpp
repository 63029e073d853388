// Signals of a rank that is a thread: what its program wants done with them, and the news of a death.
//
// The kernel keeps one action a process, so for every signal that a rank has an action for it is ours: it finds out whose
// signal it is. One that was sent to a thread, or that a thread has caused, is its rank's; one that was sent to the
// process is that of all its ranks, and each is sent one of its own.
#pragma once

#include <signal.h>

#include <array>
#include <mutex>

namespace heddle::host {

struct Seat;

class SignalActions {
 public:
  SignalActions();  // what is ignored at the start of the host stays ignored

  // All of them block signals meanwhile: a handler that interrupts may ask too.
  struct sigaction get(int signal) const;
  void set(int signal, const struct sigaction& action);
  // For a handler that is about to run: the action, and the default from now on if it wants to run once.
  struct sigaction take(int signal);

 private:
  mutable std::mutex mutex_;
  std::array<struct sigaction, NSIG> actions_{};  // all default
};

// Writes down which rank it was when a signal ends the process. Once, by the host's first thread.
void watch_for_deaths();
// This rank is one of those that get what is sent to the process.
void receive_signals(Seat& seat);
// For a thread of a rank: a stack to die on, should its own be full; and back.
void take_signal_stack();
void give_back_signal_stack();

}  // namespace heddle::host
