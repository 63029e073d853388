// Work list: work that advances by polls, each by one thread at a time, in turn; and the result of a poll of all of it.
//
// Source: ours. A thread that is about to sleep polls everything once more, and sleeps if nothing has moved. Work that
// another thread is polling just then is not in the list: that poll may precede the events that the sleeper has seen,
// and its thread may never come back. So a thread that puts work back wakes those that found it held.
//
// Order: the order of the turns; work that is put back takes a new turn, so that a poll of all comes to each once. No
// wake-up is lost: a poll before a sleep leaves its number if others hold works, and a thread that began its poll
// before it and puts one back then has to ring; for works that the sleeper itself takes and puts back no thread rings.
// Progress: a lock that is held for a few instructions.
//
// Memory orders: none but the lock's. The number of a missed poll is never cleared, which is harmless: more rings than
// needed.
#pragma once

#include <cstdint>
#include <mutex>
#include <utility>

#include "base/platform/platform.hpp"

namespace heddle::sync {

// Links: next(work), set_next(work, other), turn(work), set_turn(work, number).
template <platform::Platform P, class Work, class Links, class Mutex = typename P::mutex>
class WorkList {
  template <class T>
  using plain = typename P::template plain<T>;

 public:
  // The action of a thread for works that others hold as it begins.
  enum class Missed : std::uint8_t {
    reported,  // it polls again
    rung_for,  // it goes to sleep: the thread that puts one back rings
  };
  struct Pass {
    std::uint64_t number;  // the number of the poll, from 1
    std::uint64_t end;     // of the turns that belong to it
    bool complete;         // no other thread held a work, or one will ring for it
  };

  void add(Work& work) {
    const std::lock_guard guard(mutex_);
    append(work);
  }

  // A poll of all that is in the list. A thread that takes a work from here on sees all that the caller has seen.
  Pass begin(Missed missed) {
    const std::lock_guard guard(mutex_);
    passes_.set(passes_.get() + 1);
    const bool any = held_.get() != 0;
    if (any && missed == Missed::rung_for) missed_by_.set(passes_.get());
    return {passes_.get(), turns_.get(), !any || missed == Missed::rung_for};
  }

  // The first work that belongs to the poll and suits(work); null: that was all.
  template <class Suits>
  Work* take(const Pass& pass, Suits&& suits) {
    const std::lock_guard guard(mutex_);
    Work* before = nullptr;
    Work* work = head_.get();
    while (work != nullptr && !suits(*work)) before = std::exchange(work, Links::next(*work));
    if (work == nullptr || Links::turn(*work) >= pass.end) return nullptr;
    Work* const next = Links::next(*work);
    before != nullptr ? Links::set_next(*before, next) : head_.set(next);
    if (next == nullptr) tail_.set(before);
    held_.set(held_.get() + 1);
    return work;
  }

  // A work that the poll has taken is put back, or is finished and dropped. True: the caller has to ring for the
  // threads that missed it.
  bool put_back(const Pass& pass, Work& work) {
    const std::lock_guard guard(mutex_);
    append(work);
    return release(pass);
  }
  bool forget(const Pass& pass) {
    const std::lock_guard guard(mutex_);
    return release(pass);
  }

 private:
  void append(Work& work) {
    Links::set_turn(work, turns_.get());
    turns_.set(turns_.get() + 1);
    Links::set_next(work, nullptr);
    Work* const last = tail_.get();
    last != nullptr ? Links::set_next(*last, &work) : head_.set(&work);
    tail_.set(&work);
  }
  bool release(const Pass& pass) {
    held_.set(held_.get() - 1);
    if (missed_by_.get() <= pass.number) return false;
    missed_by_.set(0);
    return true;
  }

  Mutex mutex_;
  plain<Work*> head_{nullptr};
  plain<Work*> tail_{nullptr};
  plain<std::uint64_t> turns_{0};      // the number of turns given
  plain<std::uint32_t> held_{0};       // works that threads are polling
  plain<std::uint64_t> passes_{0};     // that have begun
  plain<std::uint64_t> missed_by_{0};  // the last poll that found one held before a sleep; 0: no ring is needed
};

}  // namespace heddle::sync
