// Who sleeps, and when, under each policy of waiting: the ways of waiting over an engine that only counts.
#include "engine/waiting.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>

namespace heddle::engine {

// There is no mpiexec here that would read it.
Blocked::Blocked(Rank& rank, const boot::Wait* /*wait*/) : rank_(rank) {}
Blocked::~Blocked() = default;

namespace {

using Kind = safety::WaitPolicy::Kind;

constexpr std::int64_t us = 1000;

// An engine in which nothing ever moves. What is waited for happens with the look after which `enough` have been made, or
// when the thread sleeps.
struct Counting {
  platform::Native::atomic<std::uint32_t> waiting{0};
  Machine known;
  int enough = 1'000'000'000;
  int polls = 0;
  int full = 0;
  int sleeps = 0;

  explicit Counting(Kind kind, std::int64_t awake = 50 * us) {
    known.waiting = &waiting;
    known.cores = 3;
    known.own_cores = 2;  // bound, so that its threads are counted too
    known.policy = {kind, 0};
    known.awake = kind == Kind::passive ? 0 : awake;
    known.busy.store(kind == Kind::busy, std::memory_order_relaxed);
  }

  const Machine& machine() const { return known; }
  Rank& rank() { return *static_cast<Rank*>(static_cast<void*>(this)); }  // which nobody looks into here
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
    EXPECT_EQ(waiting.load(std::memory_order_relaxed), 0u) << "who sleeps is not counted as awake";
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

// Attempts may be left to others for ever: somebody who is never about to sleep has to look well now and then.
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
