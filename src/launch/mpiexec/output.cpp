#include "launch/mpiexec/output.hpp"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "launch/mpiexec/limits.hpp"

namespace heddle::mpiexec {
namespace {

bool ready_for_writing(int fd, int milliseconds) {
  pollfd entry{fd, POLLOUT, 0};
  return poll(&entry, 1, milliseconds) > 0;
}

}  // namespace

Sink::Sink(int fd) : fd_(fd) {
  struct stat status;
  may_block_ = fstat(fd, &status) == 0 && !S_ISREG(status.st_mode);
}

bool Sink::same_file_as(const Sink& other) const {
  struct stat mine, others;
  return fstat(fd_, &mine) == 0 && fstat(other.fd_, &others) == 0 && mine.st_dev == others.st_dev &&
         mine.st_ino == others.st_ino;
}

void Sink::add(int writer, const char* prefix, const char* text, std::size_t length) {
  if (broken() || length == 0) return;
  if (open_writer_ >= 0 && open_writer_ != writer) {
    pending_ += '\n';
    open_writer_ = -1;
  }
  if (*prefix == '\0') {
    pending_.append(text, length);
  } else {
    while (length > 0) {
      if (open_writer_ < 0) pending_ += prefix;
      const void* end = std::memchr(text, '\n', length);
      const std::size_t line = end != nullptr ? static_cast<const char*>(end) - text + 1 : length;
      pending_.append(text, line);
      text += line;
      length -= line;
      open_writer_ = end != nullptr ? -1 : writer;
    }
  }
  open_writer_ = pending_.back() == '\n' ? -1 : writer;
}

// Our descriptor may be shared with others (a shell's terminal), so it must not be made nonblocking; instead at most as
// much is written at once as a descriptor that polls ready takes without blocking.
void Sink::drain() {
  std::size_t done = 0;
  while (done < pending_.size() && (!may_block_ || ready_for_writing(fd_, 0))) {
    const std::size_t left = pending_.size() - done;
    const ssize_t written =
        write(fd_, pending_.data() + done, may_block_ ? std::min<std::size_t>(left, PIPE_BUF) : left);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) break;  // another process made it nonblocking
    if (written < 0) {
      error_ = errno;
      done = pending_.size();
      break;
    }
    done += static_cast<std::size_t>(written);
  }
  pending_.erase(0, done);
}

void Sink::drain_until(Clock::time_point deadline) {
  drain();
  while (waiting()) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0 || !ready_for_writing(fd_, static_cast<int>(left))) return;
    drain();
  }
}

bool is_full(const Stream& stream) {
  return stream.sink->full() || (stream.second != nullptr && stream.second->full());
}

bool read_stream(Stream& stream) {
  static char buffer[read_bytes];
  while (stream.fd >= 0 && !is_full(stream)) {
    const ssize_t got = read(stream.fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return true;
    if (got <= 0) {
      flush_partial(stream);
      close(stream.fd);
      stream.fd = -1;
      return false;
    }
    const auto length = static_cast<std::size_t>(got);
    const void* last_end = memrchr(buffer, '\n', length);
    const std::size_t whole = last_end != nullptr ? static_cast<const char*>(last_end) - buffer + 1 : 0;
    if (whole > 0) {
      stream.partial.append(buffer, whole);
      flush_partial(stream);
    }
    if (whole < length) {
      if (stream.partial.empty()) stream.partial_since = Clock::now();
      stream.partial.append(buffer + whole, length - whole);
      if (stream.partial.size() > longest_partial) flush_partial(stream);
    }
    if (length < sizeof buffer) return true;
  }
  return true;
}

void flush_partial(Stream& stream) {
  // Our end of the pipe names the writer, so a rank's two outputs on one terminal do not tear each other either.
  for (Sink* sink : {stream.sink, stream.second})
    if (sink != nullptr) sink->add(stream.fd, stream.prefix.c_str(), stream.partial.data(), stream.partial.size());
  stream.partial.clear();
}

std::string label_text(Label label, int rank, bool is_stderr) {
  switch (label) {
    case Label::rank:
      return '[' + std::to_string(rank) + "] ";
    case Label::stream:
      return "[1," + std::to_string(rank) + (is_stderr ? "]<stderr>: " : "]<stdout>: ");
    case Label::none:
      break;
  }
  return "";
}

}  // namespace heddle::mpiexec
