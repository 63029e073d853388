// Who of a rank's sleeping threads is the server, and who the waiters (Dang 2017, section IV-A and Fig. 6).
//
// At most one thread is the server: it makes progress for all of them. The others sleep on their counters. When the
// server's own requests are done, it hands its role to one of the others, which it wakes by force. (Fig. 6 keeps this
// under the lock of the one VNI; a rank has several here, so it has a lock of its own.)
#pragma once

#include "platform/native.hpp"
#include "safety/waiter.hpp"
#include "sync/futex_lock.hpp"
#include "sync/lock.hpp"

namespace heddle {

class Roles {
  using Lock = sync::FutexLock<platform::Native>;

 public:
  // True: the caller is the server. Its counter has been told what to expect.
  bool enter(Waiter& me) {
    sync::Guard guard(lock_);
    me.server = server_ == nullptr;
    if (me.server) {
      server_ = &me;
    } else {
      append(me);
    }
    return me.server;
  }

  // The caller waits no more.
  void leave(Waiter& me) {
    sync::Guard guard(lock_);
    if (!me.server) return remove(me);
    server_ = first_;
    if (server_ == nullptr) return;
    remove(*server_);
    server_->server = true;
    server_->counter.force();  // under the lock: until it leaves, which needs the lock too, it is there to be forced
  }

 private:
  void append(Waiter& waiter) {
    waiter.next = nullptr;
    waiter.prev = last_;
    (last_ != nullptr ? last_->next : first_) = &waiter;
    last_ = &waiter;
  }
  void remove(Waiter& waiter) {
    (waiter.prev != nullptr ? waiter.prev->next : first_) = waiter.next;
    (waiter.next != nullptr ? waiter.next->prev : last_) = waiter.prev;
  }

  Lock lock_;
  Waiter* server_ = nullptr;
  Waiter* first_ = nullptr;  // of the waiters
  Waiter* last_ = nullptr;
};

}  // namespace heddle
