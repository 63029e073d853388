// Submission "combine and wait" (CSync): a thread announces its operation in the lock's queue and waits until it has
// been executed, by the holder or, having become the holder, by itself.
//
// Source: Amer 2019, section 3.3, Figs. 2 and 3b. Operations that issue communication are announced; progress is made
// under plain mutual exclusion with an empty descriptor, of which the queue has at most one. The wake-ups and the
// exceptions of an operation are left to the thread that announced it, so that a combiner makes no system call for
// others.
#pragma once

#include <exception>

#include "base/safety/environment.hpp"
#include "base/safety/held.hpp"
#include "base/safety/work.hpp"
#include "base/sync/cell_pool.hpp"
#include "base/sync/dsm_synch.hpp"

namespace heddle::safety {

template <Environment Env, std::uint32_t MaxCombine = 1024>
class CombiningAccess {
  using P = typename Env::Platform;
  using Counters = typename Env::Counters;
  using Wakeups = typename Env::Wakeups;

  struct Announced {
    Work<Wakeups> work;
    Wakeups wakeups;
    std::uint32_t owner;  // the thread
    std::exception_ptr thrown;
  };
  // Executes an operation; counts those of others.
  struct Run {
    Counters& counters;
    void operator()(Announced& op) const {
      try {
        op.work.run(op.work.what, op.wakeups);
      } catch (...) {
        op.thrown = std::current_exception();
      }
      if (Env::counting() && op.owner != P::thread()) [[unlikely]]
        Env::combined(counters, 1);
    }
  };
  using Combiner = sync::DsmSynch<P, Announced, Run, MaxCombine>;
  // Nodes must outlive the operations of others, so a thread that ends leaves its own to the VNI.
  using Nodes = sync::CellPool<P, typename Combiner::node>;
  using Handle = typename Env::template KeptNode<sync::CellHandle<P, typename Combiner::node>>;

 public:
  static constexpr bool submits = false;
  static constexpr bool injects = false;
  static constexpr bool by_flux = false;
  static constexpr bool announces = false;

  explicit CombiningAccess(Counters& counters) : counters_(counters), combiner_(Run{counters}) {}

  template <class F>
  void run(F&& f) {
    Env::count_acquisition(counters_);
    Announced op{work_of<Wakeups>(f), {}, P::thread(), {}};
    const Handle mine(this);
    combiner_.apply(node(mine), op);
    if (op.thrown) [[unlikely]]
      std::rethrow_exception(op.thrown);
  }

  template <class F>
  void run_low(F&& f) {
    Wakeups wakeups;
    const Handle handle(this);
    typename Combiner::node& mine = node(handle);
    Env::acquire(counters_, combiner_, mine);
    const Held<Combiner> held(combiner_, mine);
    f(wakeups);
  }

  template <class F>
  bool try_run(F&& f) {
    Wakeups wakeups;
    const Handle handle(this);
    typename Combiner::node& mine = node(handle);
    if (!Env::try_acquire(counters_, combiner_, mine)) return false;
    const Held<Combiner> held(combiner_, mine);
    f(wakeups);
    return true;
  }

  static constexpr bool pending() { return false; }

 private:
  typename Combiner::node& node(const Handle& mine) { return *(*mine).from(nodes_); }

  Counters& counters_;
  Nodes nodes_;
  Combiner combiner_;
};

}  // namespace heddle::safety
