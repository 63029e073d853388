// The output of the ranks: read from their pipes, put together by lines, written to our standard output and error.
//
// A line of one rank is never split by another's. A beginning of a line (a prompt, a progress bar) waits for its end
// for a short time and is then written as it is; if another rank writes something before that line ends, a line break
// comes between them. Nothing here blocks: a slow reader of ours (a pager) makes the ranks wait, and not mpiexec, which
// must keep handling signals and deaths.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "launch/mpiexec/options.hpp"

namespace heddle::mpiexec {

using Clock = std::chrono::steady_clock;

// One of our two outputs.
class Sink {
 public:
  explicit Sink(int fd);

  int fd() const { return fd_; }
  bool same_file_as(const Sink& other) const;

  // Adds text of `writer`; whole lines, or a part that is written as it is.
  void add(int writer, const char* prefix, const char* text, std::size_t length);

  // Writes as much as possible without waiting.
  void drain();
  // Writes all that is left, waiting for a slow reader no longer than until `deadline`.
  void drain_until(Clock::time_point deadline);

  bool waiting() const { return !pending_.empty(); }       // for the descriptor to take more
  bool full() const { return pending_.size() > 1 << 18; }  // then the ranks should wait
  bool broken() const { return error_ != 0; }              // its descriptor failed; further text is dropped
  int error() const { return error_; }                     // errno of the write that failed

 private:
  int fd_;
  bool may_block_;  // a pipe, a terminal or a socket: ask before writing
  int error_ = 0;
  int open_writer_ = -1;  // whose line has no end yet
  std::string pending_;
};

// One output of one rank.
struct Stream {
  int fd = -1;  // our end of the pipe, nonblocking; -1: closed
  int rank = 0;
  Sink* sink = nullptr;
  Sink* second = nullptr;  // a copy goes there; null: nowhere
  std::string prefix;      // the label of its lines
  std::string partial;     // the beginning of a line
  Clock::time_point partial_since{};
};

// Its rank should wait before it writes more.
bool is_full(const Stream& stream);

// Reads the available bytes. False: the other end is closed, and so is ours now.
bool read_stream(Stream& stream);

void flush_partial(Stream& stream);

std::string label_text(Label label, int rank, bool is_stderr);

}  // namespace heddle::mpiexec
