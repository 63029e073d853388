// The algorithms for shared memory, between processes that map it at different addresses.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "base/platform/native.hpp"
#include "counter_body.hpp"
#include "counters.hpp"
#include "doorbell_body.hpp"
#include "fence_body.hpp"
#include "lock_body.hpp"
#include "locks.hpp"
#include "process_run.hpp"
#include "queue_body.hpp"
#include "queues.hpp"
#include "slot_sets_body.hpp"

namespace heddle::test {
namespace {

using platform::Native;
constexpr unsigned max_processes = 16;

struct Run : testing::Test {
  explicit Run(std::function<void()> b) : body(std::move(b)) {}
  void TestBody() override { body(); }
  std::function<void()> body;
};

template <class Body>
void add(const char* suite, std::string_view name, std::initializer_list<unsigned> crews, unsigned items) {
  for (const unsigned processes : crews) {
    const std::string full = std::string(name) + "/" + std::to_string(processes);
    const auto body = [processes, items] { run_between_processes<Body>(processes, items / processes); };
    testing::RegisterTest(suite, full.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [body]() -> testing::Test* { return new Run(body); });
  }
}

void register_all() {
  SharedLocks<Native>::for_each([]<class C>(C) {
    add<LockBody<Native, typename C::type, max_processes>>("LockBetweenProcesses", C::name, {2, max_processes}, 8'000);
  });
  SharedManyProducerQueues<Native>::for_each([]<class C>(C) {
    using Body = QueueBody<Native, typename C::type, max_processes>;
    add<Body>("QueueBetweenProcesses", C::name, {2, 3, max_processes}, 8'000);
  });
  OneProducerQueues<Native>::for_each([]<class C>(C) {
    using Body = QueueBody<Native, typename C::type, max_processes>;
    add<Body>("QueueBetweenProcesses", C::name, {2}, 8'000);
  });
  SharedCounters<Native>::for_each([]<class C>(C) {
    using Body = CounterBody<Native, typename C::type, max_processes>;
    add<Body>("CounterBetweenProcesses", C::name, {2, 3, max_processes}, 4'000);
  });
  add<DoorbellBody<Native, max_processes, false, platform::Scope::machine>>("DoorbellBetweenProcesses", "sleeper",
                                                                            {2, 3, max_processes}, 4'000);
  add<DoorbellBody<Native, max_processes, true, platform::Scope::machine>>("DoorbellBetweenProcesses", "listener",
                                                                           {2, 3, max_processes}, 4'000);
  add<ReduceBody<Native, max_processes, platform::Scope::machine>>("SlotSetsBetweenProcesses", "reduce",
                                                                   {2, 3, max_processes}, 4'000);
  add<BroadcastBody<Native, max_processes, platform::Scope::machine>>("SlotSetsBetweenProcesses", "broadcast",
                                                                      {2, 3, max_processes}, 4'000);
  add<FenceBody<Native>>("FenceBetweenProcesses", "light-heavy", {2}, 40'000);
}

}  // namespace
}  // namespace heddle::test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  heddle::test::register_all();
  return RUN_ALL_TESTS();
}
