// Standard input of the ranks: one rank gets ours, the others get nothing.
//
// A file or a pipe is simply inherited. A terminal can't be: a rank leads a process group of its own, which is in the
// terminal's background, and a background process that reads the terminal is stopped. So we read the typed text and
// pass it on through a pipe.
#pragma once

#include <string>

namespace heddle::mpiexec {

class Input {
 public:
  explicit Input(int rank);

  // Descriptor 0 of rank `rank`. Close-on-exec, ours.
  int descriptor_for(int rank) const { return rank == rank_ ? reader_ : null_; }

  // The terminal, while we pass typed text on and the pipe has room; else -1. The caller polls it.
  int terminal() const;
  // True if another process group has the terminal. There is no event when it is ours again (a shell's fg), so the
  // caller checks now and then.
  bool waits_for_terminal() const;
  // The pipe, while it is full; else -1. The caller polls it for room.
  int pipe_for_rest() const;

  void read_terminal();
  void write_rest();
  // After the ranks were started: their ends of the pipe are theirs.
  void close_ranks_ends();

 private:
  int rank_;
  int null_ = -1;
  int reader_ = -1;   // the end that the rank inherits
  int writer_ = -1;   // our end of the pipe, if the input is a terminal
  std::string rest_;  // typed, but the pipe was full
};

}  // namespace heddle::mpiexec
