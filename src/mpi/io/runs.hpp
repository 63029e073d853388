// The contiguous runs of an access, in memory and in the file, a few at a time.
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "mpi/io/view.hpp"
#include "objects/datatype/datatype.hpp"

namespace heddle::io {

// The program's buffer; its packed stream is written or read.
struct Buffer {
  const Datatype* type = nullptr;
  void* data = nullptr;
  MPI_Count count = 0;
};

// The runs of a file: `bytes` of the view's stream from `position` on.
class FileRuns {
 public:
  FileRuns(const View& view, std::int64_t position, std::size_t bytes)
      : view_(view), position_(position), left_(bytes) {}

  // The run that the next byte lies in, from this byte on; of length 0 at the end.
  const Run& current() {
    if (next_ == used_) fill();
    return runs_[next_];
  }
  // `n` of its bytes are done.
  void advance(std::size_t n) {
    Run& run = runs_[next_];
    run.offset += static_cast<std::int64_t>(n);
    run.length -= n;
    if (run.length == 0 && n != 0) ++next_;
  }

 private:
  static constexpr std::size_t batch = 64;
  void fill();

  const View& view_;
  std::int64_t position_;
  std::size_t left_;  // of the stream, behind what is in runs_
  std::array<Run, batch> runs_;
  std::size_t next_ = 0;
  std::size_t used_ = 0;
};

// The pieces of memory: the buffer's packed stream from `offset` on.
class MemoryRuns {
 public:
  MemoryRuns(const Buffer& buffer, std::size_t offset) : buffer_(buffer), offset_(offset) {}

  // The next pieces, of at most `bytes` together; returns their number, and in `taken` their bytes.
  std::size_t take(std::size_t bytes, iovec* out, std::size_t max, std::size_t& taken);

 private:
  static constexpr std::size_t batch = 64;

  const Buffer& buffer_;
  std::size_t offset_;  // of the stream, behind what is in runs_
  std::array<iovec, batch> runs_;
  std::size_t next_ = 0;
  std::size_t used_ = 0;
};

}  // namespace heddle::io
