// Every queue, counter, the election and announcements on real threads, up to 64 of them.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "access_body.hpp"
#include "announcements_body.hpp"
#include "backlog_body.hpp"
#include "base/platform/native.hpp"
#include "called_body.hpp"
#include "counter_body.hpp"
#include "counters.hpp"
#include "deferred_timer_body.hpp"
#include "doorbell_body.hpp"
#include "election_body.hpp"
#include "errand_body.hpp"
#include "flux_body.hpp"
#include "native_run.hpp"
#include "patience_body.hpp"
#include "queue_body.hpp"
#include "queues.hpp"
#include "roles_body.hpp"
#include "round_slots_body.hpp"
#include "slot_sets_body.hpp"
#include "survival_body.hpp"
#include "watch_body.hpp"
#include "watched_rank_body.hpp"
#include "word_body.hpp"
#include "work_body.hpp"

namespace heddle::test {
namespace {

using platform::Native;
constexpr unsigned max_threads = 64;

struct Run : testing::Test {
  explicit Run(std::function<void()> b) : body(std::move(b)) {}
  void TestBody() override { body(); }
  std::function<void()> body;
};

template <class Body>
void add(const char* suite, std::string_view name, std::initializer_list<unsigned> crews, unsigned items) {
  for (const unsigned threads : crews) {
    const std::string full = std::string(name) + "/" + std::to_string(threads);
    const auto body = [threads, items] { run_on_threads<Body>(threads, items / threads); };
    testing::RegisterTest(suite, full.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [body]() -> testing::Test* { return new Run(body); });
  }
}

void register_all() {
  ManyProducerQueues<Native>::for_each([]<class C>(C) {
    add<QueueBody<Native, typename C::type, max_threads>>("Queue", C::name, {2, 3, 8, max_threads}, 8'000);
  });
  OneProducerQueues<Native>::for_each(
      []<class C>(C) { add<QueueBody<Native, typename C::type, max_threads>>("Queue", C::name, {2}, 8'000); });
  LinearizableQueues<Native>::for_each([]<class C>(C) {
    add<VisibleBody<Native, typename C::type, max_threads>>("QueueVisible", C::name, {2, 3}, 0);
  });
  Counters<Native>::for_each([]<class C>(C) {
    add<CounterBody<Native, typename C::type, max_threads>>("Counter", C::name, {2, 3, 8, max_threads}, 4'000);
    add<ForceBody<Native, typename C::type, max_threads>>("CounterForced", C::name, {2, 3, 8, max_threads}, 0);
    add<ElectionBody<Native, typename C::type, max_threads>>("Election", C::name, {1, 2, 3, 8, max_threads}, 4'000);
  });
  add<ErrandBody<Native>>("Doorbell", "errand", {2}, 8'000);
  add<DeferredTimerBody<Native>>("Doorbell", "deferred_timer", {2, 3, 8}, 8'000);
  add<DoorbellBody<Native, max_threads>>("Doorbell", "sleeper", {2, 3, 8, max_threads}, 8'000);
  add<DoorbellBody<Native, max_threads, true>>("Doorbell", "listener", {2, 3, 8, max_threads}, 8'000);
  add<ConditionBody<Native, max_threads>>("Roles", "condition", {2, 3, 8, max_threads}, 0);
  add<ServerBody<Native, max_threads>>("Roles", "server", {2, 3, 8, max_threads}, 4'000);
  add<FluxBody<Native, max_threads>>("Flux", "ordered", {2, 3, 8, max_threads}, 8'000);
  Accesses<Native>::for_each([]<class C>(C) {
    add<AccessBody<Native, typename C::type, max_threads>>("Access", C::name, {2, 3, 8, max_threads}, 8'000);
  });
  add<PatienceBody<Native>>("Patience", "ticking", {1, 2, 3, 8, max_threads}, 800);
  add<ReduceBody<Native, max_threads>>("SlotSets", "reduce", {1, 2, 3, 8, max_threads}, 4'000);
  add<BroadcastBody<Native, max_threads>>("SlotSets", "broadcast", {2, 3, 8, max_threads}, 4'000);
  add<GatherBody<Native, max_threads>>("SlotSets", "gather", {2, 3, 8, max_threads}, 4'000);
  add<AnnouncementsBody<Native, max_threads, 8'000>>("Announcements", "treiber", {1, 2, 3, 8, max_threads}, 8'000);
}

TEST(Doorbell, Backlog) {
  for (unsigned i = 0; i != 3'000; ++i) run_on_threads<RoomBody<Native>>(3, 2 + i % 2);
}

TEST(Doorbell, Watch) {
  for (unsigned i = 0; i != 3'000; ++i) {
    run_on_threads<WatchBody<Native>>(4, 1 + i % 2);
    run_on_threads<WatchBody<Native, true>>(4, 1 + i % 2);
  }
}

TEST(Doorbell, Word) {
  for (unsigned i = 0; i != 3'000; ++i) run_on_threads<WordBody<Native>>(4, 1);
}

TEST(Doorbell, Work) {
  for (unsigned i = 0; i != 500; ++i) {
    run_on_threads<WorkBody<Native, 1>>(3, 1);
    run_on_threads<WorkBody<Native, 2>>(3, 1);
    run_on_threads<CalledBody<Native>>(4, 3);
    run_on_threads<RoundSlotsBody<Native>>(4, 20);
  }
}

TEST(Doorbell, BacklogAlone) {
  for (unsigned i = 0; i != 3'000; ++i) run_on_threads<BacklogBody<Native>>(2 + i % 2, 1);
}

TEST(Access, LeftWork) {
  for (unsigned i = 0; i != 1'000; ++i) run_on_threads<LeftWorkBody<Native>>(3, 3);
}

TEST(Survival, Lock) {
  for (unsigned i = 0; i != 1'000; ++i) {
    run_on_threads<RobustLockBody<Native, Owner::lives>>(3, 3);
    run_on_threads<RobustLockBody<Native, Owner::dies>>(3, 3);
  }
}

TEST(Survival, Agreement) {
  for (unsigned i = 0; i != 1'000; ++i) {
    run_on_threads<AgreementBody<Native, Death::before>>(2 + i % 2, 4);
    run_on_threads<AgreementBody<Native, Death::after>>(2 + i % 2, 4);
  }
}

TEST(SlotSets, Stray) {
  for (unsigned i = 0; i != 1'000; ++i) run_on_threads<StrayBody<Native>>(2, 1);
}

// The numbers of rounds come round: by then no mark is left of when they were used last.
TEST(SlotSets, OldMarksAreReplaced) {
  using Group = SlotSetGroup<Native, 1, 2, platform::Scope::process>;
  Group group;
  const Group::View shared{&group};
  Group::Member me(shared, 1, 0);
  const auto play = [&](sync::Round rounds) {
    for (; rounds != 0; --rounds) {
      const sync::Round round = me.enter([](auto&&) {});
      me.open(round);
      (void)me.finish(round);
    }
  };
  for (sync::Round i = 1; i <= 2; ++i) {
    const sync::Round round = me.enter([](auto&&) {});
    me.fill(round);
    me.stray(round);
    EXPECT_TRUE(me.is_filled(round, 0));
    EXPECT_TRUE(me.strayed(round));
    (void)me.finish(round);
  }
  play(2 * Group::Member::marks_last + 2);
  const auto age = [&](auto& mark) { return me.last_entered() - mark.load(platform::order::relaxed); };
  EXPECT_LE(age(shared.filled(0)), Group::Member::marks_last);
  for (const sync::Round set : {sync::Round{0}, sync::Round{1}})
    EXPECT_LE(age(shared.set(set).strayed), Group::Member::marks_last);
}

TEST(Roles, Resign) {
  for (unsigned i = 0; i != 1'000; ++i) {
    run_on_threads<ResignBody<Native, Steps::any_thread>>(3, 1);
    run_on_threads<ResignBody<Native, Steps::program>>(3, 1);
    run_on_threads<ResignToBody<Native>>(3, 1);
  }
}

TEST(Roles, Listen) {
  for (unsigned i = 0; i != 1'000; ++i) run_on_threads<ListenBody<Native>>(3, 1 + i % 2);
}

}  // namespace
}  // namespace heddle::test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  heddle::test::register_all();
  return RUN_ALL_TESTS();
}
