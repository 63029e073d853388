// Every event with every place that the threads of a rank may be in: who is woken, and that work is never left to a thread that does not
// know of it.
#include "messaging/wake/wake.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

namespace heddle::wake {
namespace {

using namespace std::chrono_literals;

// Where the threads of the rank are. A thread of the program polls, or is outside MPI: the doorbell does not tell.
enum class Place : std::uint8_t { not_blocked, blocked, detector_listens, blocked_and_detector_listens };
constexpr Place places[] = {Place::not_blocked, Place::blocked, Place::detector_listens,
                            Place::blocked_and_detector_listens};

bool is_blocked(Place place) { return place == Place::blocked || place == Place::blocked_and_detector_listens; }
bool listens(Place place) { return place == Place::detector_listens || place == Place::blocked_and_detector_listens; }

template <class F>
bool happens_soon(F&& f) {
  const auto end = std::chrono::steady_clock::now() + 10s;
  while (!f() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(1ms);
  return f();
}

struct Attendant final : lln::Watch::Attendant {
  std::atomic<int> sent{0}, polled{0};
  lln::Left send_left(bool) override {
    sent.fetch_add(1);
    return lln::Left::nothing;
  }
  bool poll_around() override {
    polled.fetch_add(1);
    return false;
  }
};

// Its thread lives as long as the process, and so do the bell and the attendant.
lln::Watch& new_watch(node::Doorbell& bell, Attendant& attendant) {
  auto* const watch = new lln::Watch(bell);
  watch->attend(attendant);
  return *watch;
}

// A rank whose threads are at `place`.
class Rank {
 public:
  explicit Rank(Place place) {
    if (listens(place)) bell.listen();
    if (!is_blocked(place)) return;
    thread_.emplace([this] {
      (void)bell.wait_once([] {}, [] { return false; }, [this](std::uint32_t seen) { bell.sleep(seen); });
      woken_.store(true);
    });
    while (!bell.any_thread_sleeps()) std::this_thread::yield();
  }
  ~Rank() {
    if (!thread_) return;
    bell.ring();
    thread_->join();
  }

  // True if the blocked thread goes on without another ring.
  bool is_woken() {
    return happens_soon([this] { return woken_.load(); });
  }
  std::uint32_t rings() const { return bell.rings.load(std::memory_order_relaxed); }
  std::uint32_t calls() const { return bell.calls.load(std::memory_order_relaxed); }

  node::Doorbell bell{};
  Wake wake{bell, &watch()};

 private:
  static lln::Watch& watch() {
    static node::Doorbell bell_of_watch{};
    static Attendant attendant;
    static lln::Watch& watch = new_watch(bell_of_watch, attendant);
    return watch;
  }

  std::atomic<bool> woken_{false};
  std::optional<std::thread> thread_;
};

template <class F>
void for_each_event(F&& f) {
  for (const Action& action : actions) {
    SCOPED_TRACE(action.happens);
    f(action);
  }
}

TEST(Wake, WakesThreadsThatAreBlockedOnTheDoorbell) {
  for_each_event([](const Action& action) {
    for (Place place : {Place::blocked, Place::blocked_and_detector_listens}) {
      Rank rank(place);
      const std::uint32_t calls = rank.calls();
      rank.wake.on(action.event);
      const bool rings = action.ring == Ring::blocked || action.ring == Ring::always;
      EXPECT_EQ(rank.rings() != 0, rings);
      if (rings) EXPECT_TRUE(rank.is_woken());
      EXPECT_EQ(rank.calls(), calls) << "the detector is called although a thread is blocked";
    }
  });
}

TEST(Wake, CallsTheDetectorOnceWhereNoThreadIsBlocked) {
  for_each_event([](const Action& action) {
    Rank rank(Place::detector_listens);
    rank.wake.on(action.event);
    EXPECT_EQ(rank.calls(), action.ring == Ring::none ? 0U : 1U);
    rank.wake.on(action.event);
    EXPECT_LE(rank.calls(), 1U) << "it does not listen any more";
  });
}

TEST(Wake, MakesNoSystemCallWhereNoThreadIsBlocked) {
  for_each_event([](const Action& action) {
    Rank rank(Place::not_blocked);
    rank.wake.on(action.event);
    EXPECT_EQ(rank.rings() != 0, action.ring == Ring::always);
    EXPECT_EQ(rank.calls(), 0U);
  });
}

TEST(Wake, RingsAfterTheLockIsReleased) {
  for_each_event([](const Action& action) {
    if (action.ring == Ring::always || action.ring == Ring::detector) return;
    Rank rank(Place::blocked);
    {
      Wakeups wakeups;
      rank.wake.on(action.event, wakeups);
      EXPECT_EQ(rank.rings(), 0U);
    }
    EXPECT_EQ(rank.rings() != 0, action.ring == Ring::blocked);
    if (action.ring == Ring::blocked) EXPECT_TRUE(rank.is_woken());
  });
}

TEST(Wake, SetsTheTimerOfTheWatch) {
  static node::Doorbell bell{};
  static Attendant attendant;
  Wake wake(bell, &new_watch(bell, attendant));
  for_each_event([&](const Action& action) {
    const int sent = attendant.sent.load(), polled = attendant.polled.load();
    wake.on(action.event);
    const bool sends = action.timer == Timer::sending, polls = action.timer == Timer::polling;
    if (sends) EXPECT_TRUE(happens_soon([&] { return attendant.sent.load() == sent + 1; }));
    if (polls) EXPECT_TRUE(happens_soon([&] { return attendant.polled.load() == polled + 1; }));
    // A timer that was set by mistake shows here or at the next event.
    wake.on(Event::packet_held);
    EXPECT_TRUE(happens_soon([&] { return attendant.sent.load() == sent + (sends ? 2 : 1); }));
    EXPECT_EQ(attendant.polled.load(), polled + (polls ? 1 : 0));
  });
}

TEST(Wake, ResumesListeners) {
  for_each_event([](const Action& action) {
    Rank rank(Place::not_blocked);
    Waiter listener;
    listener.expect(1, false);
    rank.wake.roles().listen(listener);
    rank.wake.on(action.event);
    EXPECT_EQ(listener.counter.complete(), action.listeners);
    rank.wake.roles().call_listeners();
  });
}

// The server that wants to step down has to poll once more; where there is none, the first waiter is elected.
TEST(Wake, LetsAThreadOfTheProgramServe) {
  for_each_event([](const Action& action) {
    Rank rank(Place::not_blocked);
    Waiter server, waiter;
    server.expect(1, false);
    waiter.expect(1, false);
    ASSERT_TRUE(rank.wake.roles().enter(server));
    rank.wake.on(action.event);
    EXPECT_EQ(rank.wake.roles().step_down(server), !action.server);
    if (action.server) ASSERT_TRUE(rank.wake.roles().step_down(server));
    rank.wake.roles().leave(server);
  });
}

// No thread of the program polls, and what an event leaves reaches a thread all the same: one that is blocked, the detector, or the watch.
// If the program is outside MPI and no thread of the library listens, the next call of the program makes progress.
TEST(Wake, LeavesNoWorkToAThreadThatDoesNotKnowOfIt) {
  for_each_event([](const Action& action) {
    const bool of_program_leaving =
        action.event == Event::program_left;  // blocked threads were woken when the work came
    if (!of_program_leaving)
      EXPECT_TRUE(action.ring == Ring::blocked || action.ring == Ring::always || action.timer != Timer::none ||
                  action.listeners)
          << "blocked threads sleep on";
    EXPECT_TRUE(action.ring != Ring::none || action.timer != Timer::none || action.listeners);
    EXPECT_FALSE(action.server && action.ring == Ring::none) << "a server that is a kernel thread is blocked there";
  });
}

}  // namespace
}  // namespace heddle::wake
