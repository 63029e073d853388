// The test of announcements, used as they are meant: each thread posts a receive and lets a message arrive, in one order or
// the other. Every receive gets a message, in the order in which its thread has posted them, and no pair of them is left.
#pragma once

#include <array>

#include "kit.hpp"
#include "sync/announcements.hpp"
#include "sync/mcs_lock.hpp"

namespace heddle::test {

template <platform::Platform P, unsigned MaxThreads, unsigned MaxReceives>
class AnnouncementsBody {
  using Lock = sync::McsLock<P>;
  template <class T>
  using plain = typename P::template plain<T>;

  struct Receive {
    plain<Receive*> next{nullptr};
    plain<unsigned> thread{0};
    plain<unsigned> number{0};
  };
  struct Links {
    static Receive* next(const Receive& receive) { return receive.next.get(); }
    static void set_next(Receive& receive, Receive* other) { receive.next.set(other); }
  };

 public:
  AnnouncementsBody(unsigned threads, unsigned rounds) : threads_(threads), rounds_(rounds) {}

  void thread(unsigned id) {
    for (unsigned round = 0; round != rounds_; ++round) {
      if (id % 2 == 0) post(id, round);
      owning(id, [&] { arrive(); });
      if (id % 2 != 0) post(id, round);
    }
  }

  void finish() {
    require<P>(matched_.get() == threads_ * rounds_, "a receive and a message have missed each other");
    require<P>(unexpected_.get() == 0, "messages are left");
  }

 private:
  template <class F>
  void owning(unsigned id, F&& f) {
    lock_.lock(nodes_[id]);
    f();
    lock_.unlock(nodes_[id]);
  }

  void post(unsigned id, unsigned round) {
    Receive& receive = receives_[id * rounds_ + round];
    receive.thread.set(id);
    receive.number.set(round);
    if (!announced_.announce(receive)) owning(id, [&] { settle(); });
  }

  void arrive() {
    if (!announced_.is_closed()) {
      gather();
      if (posted_.get() == nullptr && announced_.close()) gather();
      if (Receive* const receive = posted_.get()) {
        announced_.open();
        posted_.set(receive->next.get());
        match(*receive);
        return;
      }
    }
    unexpected_.set(unexpected_.get() + 1);
  }

  // Behind those that are posted already.
  void gather() {
    Receive* last = posted_.get();
    while (last != nullptr && last->next.get() != nullptr) last = last->next.get();
    Receive* const taken = announced_.take();
    if (last != nullptr) {
      last->next.set(taken);
    } else {
      posted_.set(taken);
    }
  }

  void settle() {
    gather();
    while (posted_.get() != nullptr && unexpected_.get() != 0) {
      Receive& receive = *posted_.get();
      posted_.set(receive.next.get());
      unexpected_.set(unexpected_.get() - 1);
      match(receive);
    }
    if (unexpected_.get() == 0) announced_.open();
  }

  void match(const Receive& receive) {
    plain<unsigned>& expected = next_of_[receive.thread.get()];
    require<P>(receive.number.get() == expected.get(), "receives of one thread changed places");
    expected.set(expected.get() + 1);
    matched_.set(matched_.get() + 1);
  }

  const unsigned threads_;
  const unsigned rounds_;
  Lock lock_;
  sync::Announcements<P, Receive, Links> announced_;
  std::array<typename Lock::node, MaxThreads> nodes_;
  std::array<Receive, MaxReceives> receives_;
  std::array<plain<unsigned>, MaxThreads> next_of_;
  plain<Receive*> posted_{nullptr};
  plain<unsigned> unexpected_{0};
  plain<unsigned> matched_{0};
};

}  // namespace heddle::test
