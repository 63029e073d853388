// The test of announcements and of the postings that they are for: each thread posts a receive and lets a message arrive, in one order or
// the other. Every receive gets a message, in the order in which its thread has posted them, and no pair of them is left.
#pragma once

#include <array>

#include "base/sync/mcs_lock.hpp"
#include "base/sync/postings.hpp"
#include "kit.hpp"

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

  struct List {
    plain<Receive*> head{nullptr};
    plain<Receive*> tail{nullptr};

    void append(Receive& receive) {
      receive.next.set(nullptr);
      Receive* const last = tail.get();
      (last != nullptr ? last->next : head).set(&receive);
      tail.set(&receive);
    }
    void append_all(Receive* receive) {
      while (receive != nullptr) {
        Receive* const next = receive->next.get();
        append(*receive);
        receive = next;
      }
    }
    Receive* take_first() {
      Receive* const first = head.get();
      if (first == nullptr) return nullptr;
      Receive* const next = first->next.get();
      head.set(next);
      if (next == nullptr) tail.set(nullptr);
      return first;
    }
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
    if (!postings_.announce(receive)) owning(id, [&] { resolve(); });
  }

  // A message, with what it does about receives that are not taken in yet.
  void arrive() {
    if (accepted_.head.get() == nullptr) accepted_.append_all(postings_.gather());
    if (accepted_.head.get() == nullptr) {
      accepted_.append_all(postings_.close());
      if (accepted_.head.get() == nullptr) {
        unexpected_.set(unexpected_.get() + 1);
        return;
      }
      postings_.open();
    }
    match(*accepted_.take_first());
  }

  // A receive that found the gate closed. One that was accepted before goes first.
  void resolve() {
    postings_.match_posted([this](Receive& receive) {
      if (unexpected_.get() == 0 || accepted_.head.get() != nullptr) return accepted_.append(receive);
      unexpected_.set(unexpected_.get() - 1);
      if (unexpected_.get() == 0) postings_.open();
      match(receive);
    });
    require<P>(unexpected_.get() == 0 || accepted_.head.get() == nullptr, "a receive waits beside a message");
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
  sync::Postings<P, Receive, Links> postings_;
  List accepted_;
  std::array<typename Lock::node, MaxThreads> nodes_;
  std::array<Receive, MaxReceives> receives_;
  std::array<plain<unsigned>, MaxThreads> next_of_;
  plain<unsigned> unexpected_{0};
  plain<unsigned> matched_{0};
};

}  // namespace heddle::test
