// Work that advances by being looked at: schedules of nonblocking collectives. Each is looked at by one thread at a
// time, and none while a VNI or a lock of this list is held, since a schedule sends, receives and calls user operations.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "progress/poll_result.hpp"
#include "threads/mutex.hpp"

namespace heddle::progress {

struct Pollable {
  // One attempt to advance; true when finished, and from then on nobody looks at it and it may be gone. It may throw std::bad_alloc
  // for a time that it bounds (shortage.hpp), and is then looked at again.
  virtual bool poll() = 0;
  Pollable* next = nullptr;
  std::uint64_t turn = 0;   // its place in the order of the list
  bool calls_user = false;  // functions of the program: only its own threads may look then

 protected:
  ~Pollable() = default;
};

class Pollables {
 public:
  bool any() const { return active_.load(std::memory_order_relaxed) != 0; }
  // Whether there are some that only threads of the program may look at.
  bool any_of_program() const { return of_program_.load(std::memory_order_relaxed) != 0; }
  void add(Pollable& work);
  // Looks at each once, but for those that another thread is looking at, and those that are only for threads of the program
  // if the caller is none. Not complete if there are some of the former: that thread may have looked before what the caller has seen.
  PollResult poll(bool of_program = true);

 private:
  class Polling;

  // The first that has been in the list since before `end`; null: there is none.
  Pollable* take(std::uint64_t end, bool of_program);
  // Back, or a new one.
  void put(Pollable& work);
  // It has finished, or it is put back.
  void release();

  threads::Mutex mutex_;
  Pollable* head_ = nullptr;  // in the order of their turns
  Pollable* tail_ = nullptr;
  std::uint64_t turns_ = 0;     // that have been given
  std::uint32_t held_ = 0;      // threads that are looking at one
  Polling* polling_ = nullptr;  // user-level threads that are in poll()
  std::atomic<std::uint32_t> active_{0};
  std::atomic<std::uint32_t> of_program_{0};
};

}  // namespace heddle::progress
