// Work that advances by polls: schedules of nonblocking collectives. Each is polled by one thread at a time, and none
// while a VNI or a lock of this list is held, since a schedule sends, receives and calls user operations.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/platform/native.hpp"
#include "base/progress/poll_result.hpp"
#include "base/sync/doorbell.hpp"
#include "base/sync/work_list.hpp"
#include "base/threads/mutex.hpp"

namespace heddle::progress {

struct Pollable {
  // One attempt to advance; true when finished, and from then on it is not polled and may be destroyed. It may throw
  // std::bad_alloc for a time that it bounds (shortage.hpp), and is then polled again.
  virtual bool poll() = 0;
  // The same by a thread that blocks if no thread finds anything.
  virtual bool poll_before_sleep() { return poll(); }
  Pollable* next = nullptr;
  std::uint64_t turn = 0;   // its place in the order of the list
  bool poll_again = false;  // set by a poll that has left something out: no thread may block on it
  bool calls_user = false;  // functions of the program: only its own threads may poll then

 protected:
  ~Pollable() = default;
};

class Pollables {
  struct Links {
    static Pollable* next(const Pollable& work) { return work.next; }
    static void set_next(Pollable& work, Pollable* other) { work.next = other; }
    static std::uint64_t turn(const Pollable& work) { return work.turn; }
    static void set_turn(Pollable& work, std::uint64_t turn) { work.turn = turn; }
  };
  using List = sync::WorkList<platform::Native, Pollable, Links, threads::Mutex>;

 public:
  using Missed = List::Missed;

  // Their rank's threads block on the bell. A thread that holds one which another thread has missed before it blocked
  // rings there.
  explicit Pollables(sync::Doorbell<platform::Native>& bell) : bell_(bell) {}

  bool any() const { return active_.load(std::memory_order_relaxed) != 0; }
  // True if there are some that only threads of the program may poll.
  bool any_of_program() const { return of_program_.load(std::memory_order_relaxed) != 0; }
  void add(Pollable& work);
  // Polls each once, except those that another thread is polling (base/sync/work_list.hpp), and those that are only for
  // threads of the program if the caller is none.
  PollResult poll(bool of_program, Missed missed);

 private:
  class Polling;

  sync::Doorbell<platform::Native>& bell_;
  List list_;
  threads::Mutex mutex_;        // guards polling_
  Polling* polling_ = nullptr;  // user-level threads that are in poll()
  std::atomic<std::uint32_t> active_{0};
  std::atomic<std::uint32_t> of_program_{0};
};

}  // namespace heddle::progress
