// Wakes the sleeping threads of a rank for networks that ring no doorbell.
//
// A thread sleeps on its rank's doorbell, a word of memory that any rank of the node can ring. What comes from elsewhere shows at
// a descriptor, and no system call of every kernel that we run on sleeps on both. So one helper thread sleeps on the descriptors and rings
// the doorbell. It is asked by each thread that is about to sleep, and else sees nothing: while threads are awake they poll.
#pragma once

#include <atomic>
#include <cstdint>

#include "node/node.hpp"
#include "platform/native.hpp"
#include "sync/reminder.hpp"

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

  // What there is left is sent by send(), and it says whether some is left still. It is called for as long as the process lives.
  struct Sender {
    virtual bool send_left() = 0;

   protected:
    ~Sender() = default;
  };
  void begin_reminding(Sender& sender) { sender_.store(&sender, std::memory_order_release); }
  // Any thread, after it has left something: the sender is asked within `soon`.
  void remind();

 private:
  void serve();
  void remind_again();

  node::Doorbell& bell_;
  int events_;  // an epoll instance
  int timer_;
  int reminding_;  // another
  sync::Reminder<platform::Native> reminder_;
  std::atomic<Sender*> sender_{nullptr};
};

}  // namespace heddle::lln
