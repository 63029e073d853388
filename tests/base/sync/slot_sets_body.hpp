// The tests of slot sets. No thread may write to a slot that another still reads, and none waits for ever: members sleep on doorbells.
//
// ReduceBody: everyone fills its slot; the last to come adds them up, and all read the sum. In every second round there are two rounds
// under way. BroadcastBody: the last thread fills its slot and goes on, until the sets are used up, since it waits for no other; the others
// read. `Told::none`: a thread that finishes an awaited set does not report it, and the checker must find the hang.
//
// GatherBody: all but the last thread fill their slots and go on, until the sets are used up; that one reads each slot as it is filled, and
// the rest when all have come. `Filled::too_early`: a member says that its slot is filled before it is, and the checker must find the race.
#pragma once

#include <array>

#include "base/sync/doorbell.hpp"
#include "base/sync/slot_sets.hpp"
#include "kit.hpp"

namespace heddle::test {

template <platform::Platform P, unsigned MaxThreads, unsigned Sets, platform::Scope where>
class SlotSetGroup {
  template <class T>
  using atomic = typename P::template atomic<T>;

 public:
  // In shared memory, which processes may map at different addresses: the views are made where they are used.
  struct View {
    SlotSetGroup* group;
    sync::SlotSet<P>& set(sync::Round round) const { return group->sets_[round % Sets]; }
    atomic<std::uint32_t>& finished(unsigned member) const { return group->finished_[member]; }
    atomic<std::uint32_t>& filled(unsigned member) const { return group->filled_[member]; }
    atomic<std::uint32_t>& waiting() const { return group->waiting_; }
  };
  using Member = sync::SlotSetMember<P, Sets, View>;

  // One member's way of waiting.
  template <class Condition>
  void await(unsigned member, Condition&& holds) {
    while (!holds()) bells_[member].wait_once([] {}, holds, [&](std::uint32_t rings) { bells_[member].sleep(rings); });
  }
  void tell(unsigned members, unsigned teller) {
    for (unsigned m = 0; m != members; ++m)
      if (m != teller) bells_[m].wake_blocked();
  }
  bool no_waiter() const { return waiting_.load(platform::order::relaxed) == 0; }

 private:
  std::array<sync::SlotSet<P>, Sets> sets_{};
  std::array<atomic<std::uint32_t>, MaxThreads> finished_{};
  std::array<atomic<std::uint32_t>, MaxThreads> filled_{};
  atomic<std::uint32_t> waiting_{0};
  std::array<sync::Doorbell<P, where>, MaxThreads> bells_{};
};

template <platform::Platform P, unsigned MaxThreads, platform::Scope where = platform::Scope::process>
class ReduceBody {
  static constexpr unsigned sets = 2;
  using Group = SlotSetGroup<P, MaxThreads, sets, where>;
  using Member = typename Group::Member;
  template <class T>
  using plain = typename P::template plain<T>;

 public:
  ReduceBody(unsigned threads, unsigned rounds) : threads_(threads), rounds_(rounds) {}

  void thread(unsigned id) {
    Member me({&group_}, threads_, id);
    for (unsigned i = 0; i < rounds_;) {
      const unsigned batch = i % 3 == 1 && i + 1 < rounds_ ? sets : 1;
      const sync::Round before = me.last_entered();
      for (unsigned k = 0; k != batch; ++k) contribute(me, id);
      for (unsigned k = 1; k <= batch; ++k) {
        const sync::Round round = before + k;
        group_.await(id, [&] { return me.is_open(round); });
        require<P>(sum_[round % sets].get() == expected(round), "a wrong sum");
      }
      if (i % 2 == 0) me.all_seen_in(before + 1);
      if (me.finish(before + batch)) group_.tell(threads_, id);
      i += batch;
    }
    done_[id].set(1);
  }
  void finish() {
    for (unsigned id = 0; id != threads_; ++id) require<P>(done_[id].get() == 1, "a member has not come back");
    require<P>(group_.no_waiter(), "a thread waits for a set");
  }

 private:
  unsigned value(unsigned id, sync::Round round) const { return (id + 1) * (round + 1); }
  unsigned expected(sync::Round round) const { return threads_ * (threads_ + 1) / 2 * (round + 1); }

  void contribute(Member& me, unsigned id) {
    const sync::Round round = me.enter([&](auto&& holds) { group_.await(id, holds); });
    auto& slots = slots_[round % sets];
    slots[id].set(value(id, round));
    if (!me.arrive(round, 7)) return;
    require<P>(me.agreed(), "all came with the same");
    unsigned sum = 0;
    for (unsigned m = 0; m != threads_; ++m) sum += slots[m].get();
    sum_[round % sets].set(sum);
    me.open(round);
    group_.tell(threads_, id);
  }

  const unsigned threads_;
  const unsigned rounds_;
  Group group_;
  std::array<std::array<plain<unsigned>, MaxThreads>, sets> slots_;
  std::array<plain<unsigned>, sets> sum_;
  std::array<plain<unsigned>, MaxThreads> done_;
};

enum class Told { all, none };

template <platform::Platform P, unsigned MaxThreads, platform::Scope where = platform::Scope::process,
          Told told = Told::all>
class BroadcastBody {
  static constexpr unsigned sets = 2;
  using Group = SlotSetGroup<P, MaxThreads, sets, where>;
  using Member = typename Group::Member;
  template <class T>
  using plain = typename P::template plain<T>;

 public:
  BroadcastBody(unsigned threads, unsigned rounds) : threads_(threads), rounds_(rounds) {}

  void thread(unsigned id) {
    Member me({&group_}, threads_, id);
    for (unsigned i = 0; i != rounds_; ++i) {
      const sync::Round round = me.enter([&](auto&& holds) { group_.await(id, holds); });
      plain<unsigned>& slot = slots_[round % sets];
      if (id == threads_ - 1) {
        slot.set(round);
        me.open(round);
        group_.tell(threads_, id);
      } else {
        group_.await(id, [&] { return me.is_open(round); });
        require<P>(slot.get() == round, "a slot was written to before all had read it");
      }
      if (me.finish(round) && told == Told::all) group_.tell(threads_, id);
    }
    done_[id].set(1);
  }
  void finish() {
    for (unsigned id = 0; id != threads_; ++id) require<P>(done_[id].get() == 1, "a member has not come back");
    require<P>(group_.no_waiter(), "a thread waits for a set");
  }

 private:
  const unsigned threads_;
  const unsigned rounds_;
  Group group_;
  std::array<plain<unsigned>, sets> slots_;
  std::array<plain<unsigned>, MaxThreads> done_;
};

enum class Filled { in_time, too_early };

template <platform::Platform P, unsigned MaxThreads, platform::Scope where = platform::Scope::process,
          Filled filled = Filled::in_time>
class GatherBody {
  static constexpr unsigned sets = 2;
  using Group = SlotSetGroup<P, MaxThreads, sets, where>;
  using Member = typename Group::Member;
  template <class T>
  using plain = typename P::template plain<T>;

 public:
  GatherBody(unsigned threads, unsigned rounds) : threads_(threads), rounds_(rounds) {}

  void thread(unsigned id) {
    Member me({&group_}, threads_, id);
    const unsigned root = threads_ - 1;
    for (unsigned i = 0; i != rounds_; ++i) {
      const sync::Round round = me.enter([&](auto&& holds) { group_.await(id, holds); });
      if (id != root) {
        if (filled == Filled::too_early) me.fill(round);
        slots_[round % sets][id].set(round);
        if (filled == Filled::in_time) me.fill(round);
      }
      if (me.arrive(round, 7)) {
        me.open(round);
        group_.tell(threads_, id);
      } else if (id == root) {
        for (unsigned m = 0; m != root; ++m)
          if (me.is_filled(round, m)) read(round, m);
        group_.await(id, [&] { return me.is_open(round); });
      }
      if (id == root) {
        for (unsigned m = 0; m != root; ++m) {
          require<P>(me.is_filled(round, m), "all have come, and one has not filled its slot");
          read(round, m);
        }
      }
      if (me.finish(round)) group_.tell(threads_, id);
    }
    done_[id].set(1);
  }
  void finish() {
    for (unsigned id = 0; id != threads_; ++id) require<P>(done_[id].get() == 1, "a member has not come back");
    require<P>(group_.no_waiter(), "a thread waits for a set");
  }

 private:
  void read(sync::Round round, unsigned member) {
    require<P>(slots_[round % sets][member].get() == round, "a slot of another round");
  }

  const unsigned threads_;
  const unsigned rounds_;
  Group group_;
  std::array<std::array<plain<unsigned>, MaxThreads>, sets> slots_;
  std::array<plain<unsigned>, MaxThreads> done_;
};

// A broadcast that a member does not see as one: it leaves a mark, and never waits. Thread 0 opens. Earlier actions of either are
// seen by a thread that sees that.
template <platform::Platform P>
class StrayBody {
  using Group = SlotSetGroup<P, 2, 2, platform::Scope::process>;
  using Member = typename Group::Member;

 public:
  StrayBody(unsigned threads, unsigned /*rounds*/) : threads_(threads) {}

  void thread(unsigned id) {
    Member me({&group_}, threads_, id);
    const sync::Round round = me.enter([](auto&&) {});
    claims_[id].set(id + 1);
    if (id == 0) {
      me.open(round);
      saw_[id] = me.strayed(round);
    } else {
      saw_[id] = me.stray(round);
    }
    if (saw_[id]) require<P>(claims_[1 - id].get() == 2 - id, "a mark without what was before it");
    (void)me.finish(round);
  }
  void finish() { require<P>(claims_[0].get() + claims_[1].get() == 3, "a thread has not come"); }

 private:
  const unsigned threads_;
  Group group_;
  std::array<typename P::template plain<unsigned>, 2> claims_;
  std::array<bool, 2> saw_{};
};

}  // namespace heddle::test
