// Wakes the sleeping threads of a rank for networks that ring no doorbell.
//
// A thread sleeps on its rank's doorbell, a word of memory that any rank of the node can ring. What comes from elsewhere shows at
// a descriptor, and no system call of every kernel that we run on sleeps on both. So one helper thread sleeps on the descriptors and rings
// the doorbell. It is asked by each thread that is about to sleep, and else sees nothing: while threads are awake they poll.
#pragma once

#include <cstdint>

#include "node/node.hpp"

namespace heddle::lln {

class Watch {
 public:
  // Of a rank, whose threads sleep on this bell. It lives as long as the process, and so must the bell. Throws std::runtime_error if there
  // are no descriptors or threads left.
  explicit Watch(node::Doorbell& bell);
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // Any thread, after it has said that it sleeps and before its last look around: the bell rings once when `fd` can be read, or after
  // so many nanoseconds (0: never).
  void arm(int fd, std::int64_t after);

 private:
  void serve();

  node::Doorbell& bell_;
  int events_;  // an epoll instance
  int timer_;
};

}  // namespace heddle::lln
