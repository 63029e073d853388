// The sleep of threads under each policy of waiting: the ways of waiting over an engine that only counts.
#include "messaging/engine/waiting.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace heddle::engine {

// There is no mpiexec here that would read it.
Blocked::Blocked(Rank& rank, const boot::Wait* /*wait*/) : rank_(rank) {}
Blocked::~Blocked() = default;

namespace {

using Kind = safety::WaitPolicy::Kind;

constexpr std::int64_t us = 1000;

// An engine in which nothing ever moves. The awaited event happens with the poll after which `enough` have been made, or
// when the thread sleeps.
struct Counting {
  platform::Native::atomic<std::uint32_t> waiting{0};
  Machine known;
  int enough = 1'000'000'000;
  int polls = 0;
  int full = 0;
  int sleeps = 0;

  explicit Counting(Kind kind, std::int64_t spinning = 50 * us) {
    known.waiting = &waiting;
    known.cores = 3;
    known.own_cores = 2;  // bound, so that its threads are counted too
    known.policy = {kind, 0};
    known.spinning = kind == Kind::passive ? 0 : spinning;
    known.busy.store(kind == Kind::busy, std::memory_order_relaxed);
  }

  const Machine& machine() const { return known; }
  Rank& rank() { return *static_cast<Rank*>(static_cast<void*>(this)); }  // which is not read here
  progress::PollResult poll_for_condition(Urgency urgency) { return poll(0, urgency); }
  progress::PollResult poll(int, Urgency) {
    ++polls;
    return {};
  }
  progress::PollResult poll_fully(bool) {
    ++full;
    return {};
  }
  template <class F>
  void sleep_until(F&& holds) {
    EXPECT_FALSE(holds());
    EXPECT_EQ(waiting.load(std::memory_order_relaxed), 0u) << "who sleeps is not counted as spinning";
    ++sleeps;
  }
};

template <class Way>
void wait(Counting& e) {
  Way::wait_until(
      e, [&e] { return e.polls >= e.enough || e.full >= 3; }, nullptr);
  EXPECT_EQ(e.waiting.load(std::memory_order_relaxed), 0u);
  EXPECT_EQ(e.known.own_waiting.load(std::memory_order_relaxed), 0u);
}

using Low = Contend<Urgency::low>;
using High = Contend<Urgency::high>;
using Server = Reactivation<engine::Sleep::kernel>;

template <class Way>
class EveryWay : public testing::Test {};
using Ways = testing::Types<engine::Adaptive, engine::WatchOwnFlag, High, Low, engine::BackOff, Server>;
TYPED_TEST_SUITE(EveryWay, Ways);

TYPED_TEST(EveryWay, PassiveLooksOnceAndSleeps) {
  Counting e(Kind::passive);
  wait<TypeParam>(e);
  EXPECT_EQ(e.polls, 1);
  EXPECT_EQ(e.sleeps, 1);
}

TYPED_TEST(EveryWay, SpinLooksAndThenSleeps) {
  Counting e(Kind::spin);
  wait<TypeParam>(e);
  EXPECT_GT(e.polls, 1);
  EXPECT_EQ(e.sleeps, 1);
}

TYPED_TEST(EveryWay, WhatComesWhileItSpinsCostsNoSleep) {
  Counting e(Kind::spin, 3'600'000'000 * us);
  e.enough = 500;
  wait<TypeParam>(e);
  EXPECT_EQ(e.sleeps, 0);
}

TYPED_TEST(EveryWay, BusyNeverSleeps) {
  Counting e(Kind::busy);
  e.enough = 100'000;
  wait<TypeParam>(e);
  EXPECT_EQ(e.sleeps, 0);
}

template <class Way>
class Ours : public testing::Test {};
using OurWays = testing::Types<engine::Adaptive, engine::WatchOwnFlag>;
TYPED_TEST_SUITE(Ours, OurWays);

TYPED_TEST(Ours, SleepByThemselves) {
  Counting e(Kind::model);
  wait<TypeParam>(e);
  EXPECT_GT(e.polls, 1);
  EXPECT_EQ(e.sleeps, 1);
}

// Attempts may be left to others for ever: a thread that is never about to sleep has to poll thoroughly now and then.
TYPED_TEST(Ours, LookWellNowAndThenWhileBusy) {
  Counting e(Kind::busy);
  wait<TypeParam>(e);
  EXPECT_EQ(e.full, 3);
  EXPECT_EQ(e.sleeps, 0);
}

TYPED_TEST(Ours, SleepOnceTheRankHasComeDown) {
  Counting e(Kind::busy);
  e.known.busy.store(false, std::memory_order_relaxed);
  wait<TypeParam>(e);
  EXPECT_EQ(e.sleeps, 1);
}

template <class Way>
class Papers : public testing::Test {};
using PapersWays = testing::Types<High, Low, engine::BackOff, Server>;
TYPED_TEST_SUITE(Papers, PapersWays);

TYPED_TEST(Papers, PollWithoutEndByThemselves) {
  Counting e(Kind::model, 1);
  e.enough = 10'000;
  wait<TypeParam>(e);
  EXPECT_EQ(e.sleeps, 0);
}

TEST(OneLookout, IsTakenByOneAtATime) {
  Lookout lookouts[2];
  Lookout::Candidate second;
  {
    Lookout::Candidate first;
    EXPECT_TRUE(first.looks_at(lookouts[0]));
    EXPECT_TRUE(first.looks_at(lookouts[0]));
    EXPECT_FALSE(second.looks_at(lookouts[0]));
    EXPECT_TRUE(first.looks_at(lookouts[1])) << "and leaves the other one";
    EXPECT_TRUE(second.looks_at(lookouts[0]));
    EXPECT_FALSE(second.looks_at(lookouts[1]));
    EXPECT_TRUE(first.looks_at(lookouts[0])) << "which the second one has left in vain";
    EXPECT_FALSE(second.looks_at(lookouts[0]));
  }
  EXPECT_TRUE(second.looks_at(lookouts[0])) << "the first one waits no more";
}

// An engine between nodes. Each thread waits for a request of its own, and some looks end one: that of the thread that looks comes first, so
// that it leaves the others to themselves.
struct BetweenNodes {
  static constexpr int threads = 8;
  static constexpr int looks_for_one = 20;

  Counting counting{Kind::spin, 3'600'000'000 * us};
  Lookout lookouts[2];
  Request requests[threads];
  std::atomic<int> looking[2]{};
  std::atomic<int> looks{0};
  std::atomic<int> looks_at[2]{};
  std::atomic<bool> several{false};

  BetweenNodes() { counting.waiting.store(1000, std::memory_order_relaxed); }

  bool polls_are_expensive() const { return true; }
  Lookout& lookout(int home) { return lookouts[home]; }
  const Machine& machine() const { return counting.known; }
  Rank& rank() { return counting.rank(); }
  int home(const WaitSet& set) const { return static_cast<int>((set.next() - requests) % 2); }
  boot::Wait describe(WaitSet&) { return {}; }
  progress::PollResult poll_fully(bool) { return {}; }
  progress::PollResult poll(int, Urgency) { return {}; }
  progress::PollResult poll(int home, const PollMode& how) {
    if (looking[home].fetch_add(1) != 0) several = true;
    ++looks_at[home];
    const int n = ++looks;
    if (n % looks_for_one == 0) end_one(home, how);
    looking[home].fetch_sub(1);
    return {.made_progress = n % looks_for_one == 0};
  }
  void end_one(int home, const PollMode& how) {
    for (Request& request : requests)
      if (&request == how.expected) return request.done.store(1, std::memory_order_release);
    for (int i = home; i < threads; i += 2)
      if (requests[i].done.load(std::memory_order_relaxed) == 0)
        return requests[i].done.store(1, std::memory_order_release);
  }
  template <class Sleep, class Serve>
  void wait_registered(WaitSet&, Waiter&, Sleep&&, Serve&&) {
    ADD_FAILURE() << "no thread is to sleep";
  }
  template <class F>
  void sleep_until(F&&) {
    ADD_FAILURE() << "no thread is to sleep";
  }
};

TEST(BetweenNodes, OneLooksForAllAndAnotherOnceItHasDone) {
  for (int round = 0; round < 50; ++round) {
    BetweenNodes e;
    std::vector<std::thread> all;
    for (Request& request : e.requests) {
      all.emplace_back([&e, &request] {
        Request* const one = &request;
        WaitSet set(&one, 1, false);
        engine::Adaptive::wait(e, set);
        EXPECT_EQ(request.done.load(std::memory_order_acquire), 1u);
      });
    }
    for (std::thread& thread : all) thread.join();
    EXPECT_FALSE(e.several) << "two looked at the same place";
    EXPECT_LE(e.looks, BetweenNodes::looks_for_one * 2 * BetweenNodes::threads);
  }
}

TEST(BetweenNodes, WhoWaitsForAnyLooksWhereEachOfThemIs) {
  BetweenNodes e;
  Request* const both[] = {&e.requests[0], &e.requests[1]};
  WaitSet set(both, 2, true);
  engine::Adaptive::wait(e, set);
  EXPECT_GT(e.looks_at[0], 0);
  EXPECT_GT(e.looks_at[1], 0);
}

TEST(Cores, AreShortForMoreThreadsThanTheJobHas) {
  Counting e(Kind::spin);
  e.known.cores = e.known.own_cores = 2;
  e.waiting.store(2, std::memory_order_relaxed);
  EXPECT_FALSE(e.known.short_of_cores());
  e.waiting.store(3, std::memory_order_relaxed);
  EXPECT_TRUE(e.known.short_of_cores());
}

TEST(Cores, AreShortForMoreThreadsThanTheRankIsBoundTo) {
  Counting e(Kind::spin);
  e.known.cores = 8;
  e.known.own_cores = 1;
  e.known.begin_waiting();
  EXPECT_FALSE(e.known.short_of_cores());
  e.known.begin_waiting();
  EXPECT_TRUE(e.known.short_of_cores());
  e.known.end_waiting();
  EXPECT_FALSE(e.known.short_of_cores());
}

TEST(Cores, OneIsAlwaysShort) {
  Counting e(Kind::spin);
  e.known.cores = e.known.own_cores = 1;
  EXPECT_TRUE(e.known.short_of_cores());
}

}  // namespace
}  // namespace heddle::engine
