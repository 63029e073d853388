// The standard streams of a rank, and its open files: the buffers to write when it ends.
//
// A rank's descriptors are its own (its threads share a table that other ranks do not), so a buffer must be written by
// a thread of the rank that filled it.
#pragma once

#include <stdio.h>
#include <sys/types.h>

#include <mutex>
#include <utility>
#include <vector>

#include "launch/host/variables.hpp"

namespace heddle::host {

class Streams {
 public:
  explicit Streams(Variables& variables) : variables_(variables) {}

  // Over descriptors 0, 1 and 2 of the calling thread.
  void open();
  // To be called once the program's own variables have their places.
  void publish();

  FILE* in() { return variables_.get<FILE*>(Variable::standard_input); }
  FILE* out() { return variables_.get<FILE*>(Variable::standard_output); }
  FILE* err() { return variables_.get<FILE*>(Variable::standard_error); }

  void opened(FILE* file);
  void closed(FILE* file);
  void opened_command(FILE* file, pid_t child);
  pid_t command_of(FILE* file);  // the command is forgotten after this; 0: it is a file
  // The rank's stream where libc's own is meant: libraries that all ranks share name that one.
  FILE* own(FILE* file);
  int flush();  // all; 0 or EOF

 private:
  Variables& variables_;
  FILE* standard_[3] = {};
  std::mutex mutex_;
  std::vector<FILE*> files_;
  std::vector<std::pair<FILE*, pid_t>> commands_;
};

}  // namespace heddle::host
