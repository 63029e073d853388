// Signals of a rank that is a thread: what its program wants done with them, and the news of a death.
#pragma once

#include <signal.h>

#include <array>
#include <mutex>

namespace heddle::host {

struct Seat;

class SignalActions {
 public:
  struct sigaction get(int signal) const;
  void set(int signal, const struct sigaction& action);

 private:
  mutable std::mutex mutex_;
  std::array<struct sigaction, 65> actions_{};
};

// Writes down which rank it was when a signal ends the process. Once, by the host's first thread.
void watch_for_deaths();
// For a thread of a rank: a stack to die on, should its own be full; and back.
void take_signal_stack();
void give_back_signal_stack();

}  // namespace heddle::host
