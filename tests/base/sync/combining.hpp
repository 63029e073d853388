// Every combining algorithm, registered by a line, and its test.
//
// CombiningBody: threads apply operations on a plain counter; where there is a lock beside, some rounds use it. Each
// operation runs once and alone, and its result comes back to who asked.
#pragma once

#include <array>

#include "base/sync/cc_synch.hpp"
#include "base/sync/dsm_synch.hpp"
#include "base/sync/lock.hpp"
#include "kit.hpp"

namespace heddle::test {

template <platform::Platform P>
struct Increment {
  typename P::template plain<unsigned>* counter;
  typename P::template plain<unsigned> result;
};

template <platform::Platform P>
struct RunIncrement {
  void operator()(Increment<P>& op) const {
    const unsigned value = op.counter->get() + 1;
    if (value % 29 == 0) P::yield();  // so that others queue
    op.counter->set(value);
    op.result.set(value);
  }
};

template <platform::Platform P>
using Combinings = CaseList<                                                 //
    Case<"dsm-synch", sync::DsmSynch<P, Increment<P>, RunIncrement<P>, 2>>,  //
    Case<"cc-synch", sync::CcSynch<P, Increment<P>, RunIncrement<P>, 2>>>;

template <platform::Platform P, class C, unsigned MaxThreads>
class CombiningBody {
 public:
  CombiningBody(unsigned threads, unsigned rounds) : threads_(threads), rounds_(rounds) {}

  void thread(unsigned id) {
    unsigned last = 0;
    for (unsigned round = 0; round != rounds_; ++round) {
      unsigned result = 0;
      if (sync::Lock<C> && (id + round) % 3 != 0) {
        result = increment_locked(id, (id + round) % 3 == 1);
      } else {
        Increment<P>& op = operations_[id];
        op.counter = &counter_;
        combining_.apply(nodes_[id], op);
        result = op.result.get();
      }
      require<P>(result > last && result <= threads_ * rounds_, "an operation ran twice, or not at all");
      last = result;
    }
  }

  void finish() { require<P>(counter_.get() == threads_ * rounds_, "an operation was lost"); }

 private:
  unsigned increment_locked(unsigned id, bool try_first) {
    if constexpr (sync::Lock<C>) {
      if (!try_first || !combining_.try_lock(nodes_[id])) combining_.lock(nodes_[id]);
      const unsigned value = counter_.get() + 1;
      counter_.set(value);
      combining_.unlock(nodes_[id]);
      return value;
    }
    return 0;
  }

  const unsigned threads_;
  const unsigned rounds_;
  C combining_;
  typename P::template plain<unsigned> counter_;
  std::array<typename C::node, MaxThreads> nodes_;
  std::array<Increment<P>, MaxThreads> operations_;
};

}  // namespace heddle::test
