#include "mpi/io/runs.hpp"

#include <algorithm>

namespace heddle::io {

void FileRuns::fill() {
  next_ = 0;
  std::size_t bytes = 0;
  used_ = left_ == 0 ? 0 : view_.runs(position_, left_, runs_.data(), batch, bytes);
  position_ += static_cast<std::int64_t>(bytes);
  left_ -= bytes;
  if (used_ == 0) {
    runs_[0] = {};
    used_ = 1;
  }
}

std::size_t MemoryRuns::take(std::size_t bytes, iovec* out, std::size_t max, std::size_t& taken) {
  std::size_t n = 0;
  taken = 0;
  while (n < max && taken < bytes) {
    if (next_ == used_) {
      std::size_t found = 0;
      next_ = 0;
      used_ = segments(*buffer_.type, buffer_.data, buffer_.count, offset_, runs_.data(), batch, found);
      if (used_ == 0) return n;
      offset_ += found;
    }
    iovec& run = runs_[next_];
    const std::size_t part = std::min(run.iov_len, bytes - taken);
    out[n++] = {run.iov_base, part};
    taken += part;
    run.iov_base = static_cast<char*>(run.iov_base) + part;
    run.iov_len -= part;
    if (run.iov_len == 0) ++next_;
  }
  return n;
}

}  // namespace heddle::io
