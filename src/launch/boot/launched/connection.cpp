#include "launch/boot/launched/connection.hpp"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace heddle::boot {

void Descriptor::reset() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

std::int64_t milliseconds_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

void Connection::read() {
  while (is_open()) {
    char bytes[16 * 1024];
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
    iovec where{bytes, sizeof bytes};
    msghdr message{};
    message.msg_iov = &where;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    const ssize_t n = recvmsg(fd(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    timed_out_ = n < 0 && (errno == ETIMEDOUT || errno == EHOSTUNREACH || errno == ENETUNREACH);
    if (n <= 0) return close();
    if (const cmsghdr* const head = CMSG_FIRSTHDR(&message); head != nullptr && head->cmsg_type == SCM_RIGHTS) {
      int passed = -1;
      std::memcpy(&passed, CMSG_DATA(head), sizeof passed);
      passed_ = Descriptor(passed);
    }
    in_.append(bytes, static_cast<std::size_t>(n));
    if (in_.size() > 2 * Frame::longest) return close();
  }
}

std::optional<Frame> Connection::next(std::size_t most) {
  bool broken = false;
  std::optional<Frame> frame = Frame::take(in_, most, broken);
  if (broken) {
    in_.clear();
    close();
  }
  return frame;
}

std::optional<Frame> Connection::receive_by(std::int64_t deadline, std::size_t most) {
  while (true) {
    if (std::optional<Frame> frame = next(most)) return frame;
    const std::int64_t left = deadline - milliseconds_now();
    if (!is_open() || left <= 0) return std::nullopt;
    pollfd waiting{.fd = fd(), .events = POLLIN, .revents = 0};
    if (waits_for_room()) waiting.events |= POLLOUT;
    (void)::poll(&waiting, 1, static_cast<int>(std::min<std::int64_t>(left, 1000)));
    flush();
    read();
  }
}

void Connection::send(const Frame& frame) {
  if (!is_open()) return;
  out_ += frame.encode();
  flush();
}

void Connection::flush() {
  while (waits_for_room()) {
    const ssize_t n = ::send(fd(), out_.data(), out_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    // A closed other end is noticed by the reader, after the other end's last frames.
    if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK) out_.clear();
    if (n <= 0) return;
    out_.erase(0, static_cast<std::size_t>(n));
  }
}

void Connection::end_sending() {
  if (is_open()) (void)shutdown(fd(), SHUT_WR);
}

bool Connection::send_descriptor(const Frame& frame, int passed) {
  const std::string bytes = frame.encode();
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof passed)]{};
  iovec where{const_cast<char*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &where;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* const head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof passed);
  std::memcpy(CMSG_DATA(head), &passed, sizeof passed);
  return sendmsg(fd(), &message, MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
}

}  // namespace heddle::boot
