// mpiexec's end of the socket for requests of its ranks (launch/boot/launcher_socket.hpp).
//
// Requests are few and answered at once; a rank that writes slowly or not at all delays no other, and only processes of
// our user are accepted.
#pragma once

#include <poll.h>

#include <memory>
#include <string>
#include <vector>

#include "launch/boot/job.hpp"

namespace heddle::mpiexec {

// The source of the answers.
class Answerer {
 public:
  virtual std::string answer(const std::string& request) = 0;

 protected:
  ~Answerer() = default;
};

class Listener {
 public:
  // Throws std::system_error.
  Listener(const boot::JobHeader& job, Answerer& answerer);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  // Appends the descriptors to poll; later `polled` is the first of these entries.
  void add_to(std::vector<pollfd>& wanted) const;
  void serve(const pollfd* polled);

 private:
  struct Connection {
    int fd;
    std::string request;
  };

  void accept_all();
  bool read(Connection& connection);  // false: it is closed

  const int fd_;
  Answerer& answerer_;
  std::vector<Connection> connections_;
};

}  // namespace heddle::mpiexec
