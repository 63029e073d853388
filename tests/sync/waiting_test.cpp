// Every queue, counter, the election and announcements on real threads, up to 64 of them.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "announcements_body.hpp"
#include "counter_body.hpp"
#include "counters.hpp"
#include "doorbell_body.hpp"
#include "election_body.hpp"
#include "native_run.hpp"
#include "platform/native.hpp"
#include "queue_body.hpp"
#include "queues.hpp"

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
  add<DoorbellBody<Native, max_threads>>("Doorbell", "sleeper", {2, 3, 8, max_threads}, 8'000);
  add<DoorbellBody<Native, max_threads, true>>("Doorbell", "listener", {2, 3, 8, max_threads}, 8'000);
  add<AnnouncementsBody<Native, max_threads, 8'000>>("Announcements", "treiber", {1, 2, 3, 8, max_threads}, 8'000);
}

TEST(Doorbell, Backlog) {
  for (unsigned i = 0; i != 3'000; ++i) run_on_threads<RoomBody<Native>>(3, 2 + i % 2);
}

}  // namespace
}  // namespace heddle::test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  heddle::test::register_all();
  return RUN_ALL_TESTS();
}
