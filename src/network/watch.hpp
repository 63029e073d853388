// Wakes the sleeping threads of a rank for networks that ring no doorbell.
//
// A thread sleeps on its rank's doorbell, a word of memory that any rank of the node can ring. What comes from elsewhere shows at
// a descriptor, and no system call of every kernel that we run on sleeps on both. So one helper thread sleeps on the descriptors and rings
// the doorbell. It is asked by each thread that is about to sleep, and else sees nothing: while threads are awake they poll.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/node/node.hpp"
#include "base/platform/native.hpp"
#include "base/sync/reminder.hpp"
#include "base/threads/mutex.hpp"
#include "network/recall.hpp"

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
  // The same without a descriptor. There is one timer: the earliest time that a thread has asked for, of whichever VNI, is the one that
  // counts.
  void arm_timer(std::int64_t after);

  // Who looks after a rank's work when a time has passed. Each says what it has found, or whether it is to be asked again. They are called by
  // the helper, for as long as the process lives.
  struct Attendant {
    // Sends what has been left to be sent with others; nothing, where others have sent some of it since this was last called, unless it is to
    // do so `anyway`.
    virtual Left send_left(bool anyway) = 0;
    // The program's threads have left the library, and nobody looks at the network; unless they have come back.
    virtual bool look_around() = 0;

   protected:
    ~Attendant() = default;
  };
  void attend(Attendant& attendant) { attendant_.store(&attendant, std::memory_order_release); }
  // Any thread, after it has left something to be sent: send_left() is called soon.
  void remind_to_send() { remind(sending_, recall_.after()); }
  // Any thread, after it has left: look_around() is called some time later.
  void remind_to_look() { remind(looking_, later); }

 private:
  // Nanoseconds: longer than a program that talks takes to its next call.
  static constexpr std::int64_t later = 1'000'000;
  struct Reminding {
    int timer;
    sync::Reminder<platform::Native> reminder{};
  };

  static void remind(Reminding& of, std::int64_t after);
  void forget_timer();
  void send_left();
  void look_around();
  void serve();

  node::Doorbell& bell_;
  int events_;  // an epoll instance
  int timer_;
  threads::Mutex mutex_;  // of the next, and of setting the timer
  std::int64_t due_ = 0;  // when the timer goes off; 0: it is not set
  Reminding sending_;
  Reminding looking_;
  Recall recall_;
  std::atomic<Attendant*> attendant_{nullptr};
};

}  // namespace heddle::lln
