// Wakes the blocked threads of a rank for networks that ring no doorbell.
//
// A thread blocks on its rank's doorbell, a word of memory that any rank of the node can ring. Arrivals from other
// nodes show at a descriptor, and not every supported kernel has a system call that blocks on both. So one watch thread
// blocks on the descriptors and rings the doorbell. Each thread that is about to block arms it; while threads are
// spinning they poll, and it is idle.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/node/node.hpp"
#include "base/platform/native.hpp"
#include "base/sync/deferred_timer.hpp"
#include "base/threads/mutex.hpp"
#include "network/recall.hpp"

namespace heddle::lln {

class Watch {
 public:
  // For a rank, whose threads block on this bell. It lives as long as the process, and so must the bell. Throws
  // std::runtime_error if no descriptors or threads are left.
  explicit Watch(node::Doorbell& bell);
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // Any thread, after it has registered as blocking and before its last poll: the bell rings once when `fd` is
  // readable, or after so many nanoseconds (0: never).
  void arm(int fd, std::int64_t after);
  // The same without a descriptor. There is one timer: the earliest time that a thread has asked for, on any VNI,
  // counts.
  void arm_timer(std::int64_t after);

  // Does a rank's work when a time has passed. The watch thread calls it, for as long as the process lives; each
  // function returns its result, or true to be called again.
  struct Attendant {
    // Sends messages that were left to share packets; nothing, where other threads have sent some of them since the
    // last call, unless `anyway` is set.
    virtual Left send_left(bool anyway) = 0;
    // The program's threads have left the library, and no thread polls the network; unless they have come back.
    virtual bool poll_around() = 0;

   protected:
    ~Attendant() = default;
  };
  void attend(Attendant& attendant) { attendant_.store(&attendant, std::memory_order_release); }
  // Any thread, after it has left messages to be sent: send_left() is called soon.
  void schedule_sending() { schedule(sending_, recall_.after()); }
  // Any thread, after it has left the library: poll_around() is called some time later.
  void schedule_polling() { schedule(polling_, later); }

 private:
  // Nanoseconds: longer than between two calls of a communicating program.
  static constexpr std::int64_t later = 1'000'000;
  struct DeferredWork {
    int timer;
    sync::DeferredTimer<platform::Native> deferred_timer{};
  };

  static void schedule(DeferredWork& of, std::int64_t after);
  void forget_timer();
  void send_left();
  void poll_around();
  void serve();

  node::Doorbell& bell_;
  int events_;  // an epoll instance
  int timer_;
  threads::Mutex mutex_;  // guards the next member, and setting the timer
  std::int64_t due_ = 0;  // the time at which the timer expires; 0: it is not set
  DeferredWork sending_;
  DeferredWork polling_;
  Recall recall_;
  std::atomic<Attendant*> attendant_{nullptr};
};

}  // namespace heddle::lln
