// One end of a connection between two ranks, local or TCP: frames in, frames out. It blocks only in receive_by().
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "launch/boot/launched/frame.hpp"

namespace heddle::boot {

// A descriptor that is closed with its owner.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() { reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void reset();

 private:
  int fd_;
};

// Milliseconds of a monotonic clock.
std::int64_t milliseconds_now();

class Connection {
 public:
  Connection() = default;
  explicit Connection(Descriptor socket) : socket_(std::move(socket)) {}

  bool is_open() const { return static_cast<bool>(socket_); }
  int fd() const { return socket_.get(); }
  void close() { socket_.reset(); }
  // True if it is closed because the other machine did not answer any more.
  bool timed_out() const { return timed_out_; }

  // Reads the available bytes; closes the connection if the other end is closed or broken.
  void read();
  // A received frame. A malformed one closes the connection.
  std::optional<Frame> next(std::size_t most = Frame::longest);
  // Waits for a frame until the deadline; nothing: none came, or the connection is closed.
  std::optional<Frame> receive_by(std::int64_t deadline, std::size_t most = Frame::longest);

  // Bytes that the socket does not take now go with a later flush().
  void send(const Frame& frame);
  void flush();
  bool waits_for_room() const { return is_open() && !out_.empty(); }
  // Nothing more will be sent: the other end sees that when it has read the rest, and closes.
  void end_sending();

  // Together with a frame, over a local socket. False: the socket takes none.
  bool send_descriptor(const Frame& frame, int fd);
  // The descriptor that came with the last frame.
  Descriptor take_descriptor() { return std::move(passed_); }

 private:
  Descriptor socket_;
  Descriptor passed_;
  bool timed_out_ = false;
  std::string in_;
  std::string out_;
};

}  // namespace heddle::boot
