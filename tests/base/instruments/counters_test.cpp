// Counting: exact from any number of threads, silent when off; spans: exclusive, and right on average.
#include "base/instruments/cells.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <thread>
#include <vector>

#include "base/instruments/guard.hpp"
#include "base/instruments/span.hpp"
#include "base/platform/native.hpp"
#include "base/sync/ticket_lock.hpp"

namespace heddle::instruments {
namespace {

struct Counting {
  Counting() { switch_on(); }
  ~Counting() { switch_off(); }
};

void burn(double microseconds) {
  const std::uint64_t begin = ticks();
  while (seconds(ticks() - begin) < microseconds * 1e-6) platform::Native::pause(1);
}

TEST(Counters, CountNothingWhenOff) {
  Counters counters;
  count(counters, Count::polls);
  { ExactSpan span(counters, Time::poll); }
  EXPECT_EQ(own_cell(counters), nullptr);
  EXPECT_EQ(counters.totals()[Count::polls], 0U);
  EXPECT_EQ(counters.totals().threads, 0U);
}

TEST(Counters, StayOnUntilTheLastUserLeaves) {
  Counters counters;
  switch_on();
  switch_on();
  switch_off();
  count(counters, Count::polls);
  switch_off();
  count(counters, Count::polls);
  EXPECT_EQ(counters.totals()[Count::polls], 1U);
}

TEST(Counters, SumOverThreads) {
  const Counting on;
  Counters counters;
  constexpr int threads = 8;
  constexpr int rounds = 20000;
  std::vector<std::thread> team;
  for (int i = 0; i < threads; ++i)
    team.emplace_back([&] {
      for (int k = 0; k < rounds; ++k) {
        count(counters, Count::polls);
        count(counters, Count::sent, 2);
      }
    });
  for (auto& t : team) t.join();
  const Totals totals = counters.totals();
  EXPECT_EQ(totals[Count::polls], std::uint64_t{threads} * rounds);
  EXPECT_EQ(totals[Count::sent], std::uint64_t{2} * threads * rounds);
  EXPECT_EQ(totals[Count::received], 0U);
  EXPECT_EQ(totals.threads, unsigned{threads});
}

// A thread's figures outlive it, and its cell serves the next: memory is bounded by the threads that live together.
TEST(Counters, OutliveTheThreads) {
  const Counting on;
  Counters counters;
  Cell* first = nullptr;
  for (int i = 0; i < 100; ++i)
    std::thread([&] {
      Cell* mine = own_cell(counters);
      if (first == nullptr) first = mine;
      EXPECT_EQ(mine, first);
      mine->add(Count::polls);
    }).join();
  EXPECT_EQ(counters.totals()[Count::polls], 100U);
  EXPECT_EQ(counters.totals().threads, 100U);
}

// More counters than a thread keeps at hand, made and destroyed: nothing is counted in another's place.
TEST(Counters, AreToldApart) {
  const Counting on;
  for (int round = 0; round < 3; ++round) {
    std::vector<Counters> many(100);
    for (std::size_t i = 0; i < many.size(); ++i) count(many[i], Count::polls, i);
    for (std::size_t i = 0; i < many.size(); ++i) count(many[i], Count::polls, i);
    for (std::size_t i = 0; i < many.size(); ++i) {
      EXPECT_EQ(many[i].totals()[Count::polls], 2 * i);
      EXPECT_EQ(many[i].totals().threads, 1U);
    }
  }
}

TEST(Counters, KeepTheLargest) {
  const Counting on;
  Counters counters;
  for (const std::uint64_t n : {3, 7, 5}) own_cell(counters)->combined(n);
  EXPECT_EQ(counters.totals().largest, 7U);
  EXPECT_EQ(counters.totals()[Count::combined], 15U);
  counters.forget_recent();
  own_cell(counters)->combined(2);
  EXPECT_EQ(counters.totals().recent_largest, 2U);
  EXPECT_EQ(counters.totals().largest, 7U);
}

TEST(Counters, TellFreeLocksFromTaken) {
  const Counting on;
  Counters counters;
  sync::TicketLock<platform::Native> lock;
  decltype(lock)::node node;
  acquire(counters, lock, node);
  decltype(lock)::node other;
  EXPECT_FALSE(try_acquire(counters, lock, other));
  std::thread waiter([&] {
    decltype(lock)::node his;
    acquire(counters, lock, his);
    lock.unlock(his);
  });
  while (counters.totals()[Count::contended] == 0) platform::Native::yield();
  burn(5000);
  lock.unlock(node);
  waiter.join();
  const Totals totals = counters.totals();
  EXPECT_EQ(totals[Count::acquisitions], 2U);
  EXPECT_EQ(totals[Count::contended], 1U);
  EXPECT_EQ(totals[Count::refused], 1U);
  EXPECT_GE(seconds(totals[Time::lock]), 0.004);
}

TEST(Spans, ExactOnesAreExact) {
  const Counting on;
  Counters counters;
  const std::uint64_t begin = ticks();
  {
    ExactSpan span(counters, Time::blocked);
    burn(2000);
  }
  const double passed = seconds(ticks() - begin);
  const double charged = seconds(counters.totals()[Time::blocked]);
  EXPECT_GE(charged, 0.002);
  EXPECT_LE(charged, passed);
}

// The time charged to many spans, over their duration.
double estimate(Counters& counters) {
  const std::uint64_t begin = ticks();
  for (unsigned i = 0; i < 1600; ++i) {
    Span outer(counters, Time::wait);
    burn(i % sampling_period == 0 ? 8 : 0.5);  // a pattern as long as the sampling period
    Span inner(counters, Time::poll);
    burn(1);
    inner.was(i % 2 == 0 ? Time::poll : Time::empty);
  }
  const double passed = seconds(ticks() - begin);
  const Totals totals = counters.totals();
  return seconds(totals[Time::wait] + totals[Time::poll] + totals[Time::empty]) / passed;
}

// One in sampling_period is timed and counts that many times. A thread that loses its core within one that is timed spoils an
// attempt, a biased choice spoils them all.
TEST(Spans, EstimateTheWhole) {
  const Counting on;
  double nearest = 0;
  for (int attempt = 0; attempt < 200 && std::abs(nearest - 1) > 0.2; ++attempt) {
    Counters counters;
    const double found = estimate(counters);
    if (std::abs(found - 1) < std::abs(nearest - 1)) nearest = found;
  }
  EXPECT_NEAR(nearest, 1.0, 0.2);
}

// No moment is charged twice, in whichever way spans are nested, also over several counters. A thread that loses its core between
// the outer span and the inner one spoils an attempt; a moment that is charged twice spoils them all.
TEST(Spans, AreExclusive) {
  const Counting on;
  double least = 1;
  for (int attempt = 0; attempt < 200 && least >= 0.1; ++attempt) {
    Counters a;
    Counters b;
    const std::uint64_t begin = ticks();
    for (int i = 0; i < 64; ++i) {
      Span outer(a, Time::wait);
      ExactSpan inner(b, Time::blocked);
      burn(200);
    }
    const double passed = seconds(ticks() - begin);
    EXPECT_GE(seconds(b.totals()[Time::blocked]), 64 * 200e-6);
    EXPECT_EQ(b.totals()[Time::wait], 0U);
    const double outer_only = seconds(a.totals()[Time::wait]);
    if (outer_only > 0) least = std::min(least, outer_only / passed);  // else none of them was timed
  }
  EXPECT_LT(least, 0.1);
}

}  // namespace
}  // namespace heddle::instruments
