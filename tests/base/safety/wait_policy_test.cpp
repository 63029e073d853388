// The values of HEDDLE_WAIT, the spin budget that follows, and the models that can't wait so.
#include "base/safety/wait_policy.hpp"

#include <gtest/gtest.h>

#include <string>

namespace heddle::safety {
namespace {

using Kind = WaitPolicy::Kind;

constexpr std::int64_t us = 1000;

std::string refusal(std::string_view text) {
  const Result<WaitPolicy> policy = parse_wait_policy(text);
  return policy ? "" : policy.failure().text;
}

WaitPolicy parsed(std::string_view text) {
  EXPECT_EQ(refusal(text), "") << text;
  return *parse_wait_policy(text);
}

std::string refusal(Kind kind, Waiting waiting) {
  Model model;
  model.waiting = waiting;
  const Result<void> suited = suits({kind, 0}, model);
  return suited ? "" : suited.failure().text;
}

TEST(WaitPolicy, EveryPolicyHasAName) {
  EXPECT_EQ(parsed("").kind, Kind::model);
  EXPECT_EQ(parsed("auto").kind, Kind::model);
  EXPECT_EQ(parsed("busy").kind, Kind::busy);
  EXPECT_EQ(parsed("passive").kind, Kind::passive);
  EXPECT_EQ(parsed("spin").kind, Kind::spin);
  EXPECT_EQ(parsed("spin").spin, 0);
  EXPECT_EQ(parsed("spin:5").kind, Kind::spin);
  EXPECT_EQ(parsed("spin:5").spin, 5 * us);
}

TEST(WaitPolicy, OtherWordsAreNone) {
  for (const char* text : {"Busy", "busy ", "idle", "spin5", ":5", "spin,5", "passive:5"})
    EXPECT_EQ(refusal(text), "is none of auto, busy, passive, spin and spin:MICROSECONDS") << text;
}

TEST(WaitPolicy, ATimeIsAWholeNumberWithinBounds) {
  EXPECT_EQ(parsed("spin:1").spin, us);
  EXPECT_EQ(parsed("spin:1000000").spin, 1'000'000 * us);
  for (const char* text :
       {"spin:", "spin:0", "spin:-1", "spin:1.5", "spin:5us", "spin: 5", "spin:1000001", "spin:99999999999"})
    EXPECT_EQ(refusal(text), "has no whole number of microseconds from 1 to 1000000") << text;
}

TEST(WaitPolicy, TheTimeFollowsFromTheCostOfAWakeUp) {
  EXPECT_EQ(spin_time(parsed("auto"), 30 * us, Reach::one_node), wake_ups_per_spin * 30 * us);
  EXPECT_EQ(spin_time(parsed("spin"), 30 * us, Reach::one_node), wake_ups_per_spin * 30 * us);
  EXPECT_EQ(spin_time(parsed("spin"), 1, Reach::one_node), shortest_spin_budget);
  EXPECT_EQ(spin_time(parsed("spin"), 4'000 * us, Reach::one_node), longest_spin_budget);
}

TEST(WaitPolicy, BetweenNodesItIsLonger) {
  EXPECT_EQ(spin_time(parsed("auto"), 30 * us, Reach::several_nodes), between_nodes * wake_ups_per_spin * 30 * us);
  EXPECT_EQ(spin_time(parsed("auto"), 4'000 * us, Reach::several_nodes), between_nodes * longest_spin_budget);
  EXPECT_EQ(spin_time(parsed("spin:5"), 30 * us, Reach::several_nodes), 5 * us);
  EXPECT_EQ(spin_time(parsed("passive"), 30 * us, Reach::several_nodes), 0);
}

TEST(WaitPolicy, ATimeThatWasAskedForIsNotBounded) {
  EXPECT_EQ(spin_time(parsed("spin:5"), 30 * us, Reach::one_node), 5 * us);
  EXPECT_EQ(spin_time(parsed("spin:5000"), 30 * us, Reach::one_node), 5'000 * us);
  EXPECT_EQ(spin_time(parsed("passive"), 30 * us, Reach::one_node), 0);
}

TEST(WaitPolicy, SleepIsForThoseWhoAskForIt) {
  EXPECT_FALSE(parsed("auto").may_sleep());
  EXPECT_FALSE(parsed("busy").may_sleep());
  EXPECT_TRUE(parsed("passive").may_sleep());
  EXPECT_TRUE(parsed("spin").may_sleep());
}

TEST(WaitPolicy, CountersThatAreWatchedAreBusyAndThoseThatAreSleptOnAreNot) {
  for (const Kind kind : {Kind::passive, Kind::spin})
    EXPECT_EQ(refusal(kind, Waiting::usc),
              "is not supported with wait=usc, whose waiters spin on their counters; those of wait=ksc sleep");
  EXPECT_EQ(refusal(Kind::busy, Waiting::ksc),
            "is not supported with wait=ksc, whose waiters sleep on their counters; those of wait=usc spin");
  EXPECT_EQ(refusal(Kind::busy, Waiting::usc), "");
  EXPECT_EQ(refusal(Kind::passive, Waiting::ksc), "");
}

TEST(WaitPolicy, EveryOtherModelTakesAnyPolicy) {
  for (const Kind kind : {Kind::model, Kind::busy, Kind::passive, Kind::spin})
    for (const Waiting waiting :
         {Waiting::contend, Waiting::contend_low, Waiting::backoff, Waiting::flag, Waiting::adaptive})
      EXPECT_EQ(refusal(kind, waiting), "");
}

TEST(WaitPolicy, IsDescribedWithWhatItComesFrom) {
  Model ours, theirs;
  ours.waiting = Waiting::adaptive;
  theirs.waiting = Waiting::contend;
  EXPECT_EQ(describe(parsed("auto"), ours, 121'600, 30'400), "auto (spins for 122 us; a wake-up costs 30 us here)");
  EXPECT_EQ(describe(parsed("auto"), theirs, 121'600, 30'400), "auto (never blocks; a wake-up costs 30 us here)");
  EXPECT_EQ(describe(parsed("spin:5"), theirs, 5 * us, 30'400), "spin (spins for 5 us; a wake-up costs 30 us here)");
  EXPECT_EQ(describe(parsed("busy"), ours, 121'600, 30'400), "busy (never blocks; a wake-up costs 30 us here)");
  EXPECT_EQ(describe(parsed("passive"), ours, 0, 30'400),
            "passive (blocks after one poll; a wake-up costs 30 us here)");
}

}  // namespace
}  // namespace heddle::safety
