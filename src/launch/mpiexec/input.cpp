#include "launch/mpiexec/input.hpp"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

namespace heddle::mpiexec {

Input::Input(int rank) : rank_(rank), null_(open("/dev/null", O_RDONLY | O_CLOEXEC)) {
  if (!isatty(STDIN_FILENO)) {
    reader_ = STDIN_FILENO;
    return;
  }
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    reader_ = null_;
    return;
  }
  reader_ = ends[0];
  writer_ = ends[1];
  fcntl(writer_, F_SETFL, O_NONBLOCK);
  signal(SIGTTIN, SIG_IGN);  // in the background a read fails and does not stop us
}

int Input::terminal() const {
  const bool foreground = writer_ >= 0 && tcgetpgrp(STDIN_FILENO) == getpgrp();
  return foreground && rest_.empty() ? STDIN_FILENO : -1;
}

bool Input::waits_for_terminal() const { return writer_ >= 0 && tcgetpgrp(STDIN_FILENO) != getpgrp(); }

int Input::pipe_for_rest() const { return writer_ >= 0 && !rest_.empty() ? writer_ : -1; }

void Input::read_terminal() {
  char buffer[4096];
  const ssize_t got = read(STDIN_FILENO, buffer, sizeof buffer);
  if (got < 0) return;  // background, or interrupted: read again when it may work
  if (got == 0) {       // Ctrl-D
    close(writer_);
    writer_ = -1;
    return;
  }
  rest_.append(buffer, static_cast<std::size_t>(got));
  write_rest();
}

void Input::write_rest() {
  const ssize_t written = write(writer_, rest_.data(), rest_.size());
  if (written >= 0) {
    rest_.erase(0, static_cast<std::size_t>(written));
  } else if (errno != EAGAIN && errno != EINTR) {  // the rank does not read any more
    close(writer_);
    writer_ = -1;
    rest_.clear();
  }
}

void Input::close_ranks_ends() {
  if (writer_ >= 0) close(reader_);
  close(null_);
  null_ = reader_ = -1;
}

}  // namespace heddle::mpiexec
