// Two endpoints in one process, the messages of one going to the other by the fluxes of many threads and by the channel beside:
// every message arrives once and whole, after those that were sent before it, by its own thread or by one that its thread has
// synchronized with.
#include "network/shm/flux.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <latch>
#include <mutex>
#include <thread>
#include <vector>

#include "base/node/room.hpp"
#include "network/end.hpp"

namespace heddle::lln::shm {
namespace {

// Ranks 0 and 1 of a job, whose segment is as large as it is asked to be.
class Pair {
 public:
  explicit Pair(std::size_t bytes)
      : bytes_(bytes), base_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (base_ == MAP_FAILED) std::abort();
    for (int rank : {0, 1}) ends_[rank].emplace(static_cast<std::byte*>(base_), bytes, rank, 2, Claiming::by_flux);
  }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;
  ~Pair() {
    for (auto& end : ends_) end.reset();
    munmap(base_, bytes_);
  }

  // Any thread: by its flux, or if that is full or the message too long by the channel. False: no room there either.
  bool send(int number, std::size_t bytes) {
    const Header header{MessageKind::eager, 0, number, 0};
    const auto fill = [&](std::byte* to) { std::memset(to, filling_of(number), bytes); };
    if (bytes <= flux_bytes && (*ends_[0])->send_by_flux(1, header, bytes, fill)) {
      by_flux.fetch_add(1, std::memory_order_relaxed);
      return true;
    }
    const std::lock_guard lock(channel_);
    return ends_[0]->post(1, header, bytes, fill) == Posted::done;
  }
  // The receiver: take(number, bytes) for each message that has come.
  template <class Take>
  int receive(int most, Take&& take) {
    return (*ends_[1])->poll_fluxes(
        most, [&](int sender, const Header& header, const std::byte* payload, std::size_t bytes) {
          ASSERT_EQ(sender, 0);
          ASSERT_EQ(header.kind, MessageKind::eager);
          for (std::size_t i = 0; i < bytes; ++i)
            ASSERT_EQ(std::to_integer<int>(payload[i]), filling_of(header.tag)) << header.tag;
          take(header.tag, bytes);
        });
  }
  bool arrived() const { return (*ends_[1])->arrived(); }

  std::atomic<int> by_flux{0};

 private:
  static int filling_of(int number) { return number % 251; }

  std::size_t bytes_;
  void* base_;
  std::optional<End> ends_[2];
  std::mutex channel_;
};

constexpr std::size_t segment = std::size_t{8} << 20;

std::size_t size_of(int number) {
  constexpr std::size_t mixed[] = {8, 0, flux_bytes, flux_bytes + 1, 40, 9000, 1, 200};
  return mixed[number % 8];
}

TEST(Flux, MessagesOfEachThreadArriveInItsOrder) {
  constexpr int threads = 5, rounds = 5000;
  Pair pair(segment);
  std::vector<std::jthread> team;
  for (int t = 0; t < threads; ++t)
    team.emplace_back([&, t](const std::stop_token& over) {
      for (int i = 0; i < rounds && !over.stop_requested();)
        if (pair.send(t * rounds + i, size_of(i))) {
          ++i;
        } else {
          std::this_thread::yield();
        }
    });
  std::vector<int> next(threads);
  for (int taken = 0; taken < threads * rounds;) {
    const int now = pair.receive(3, [&](int number, std::size_t bytes) {
      EXPECT_EQ(number % rounds, next[static_cast<std::size_t>(number / rounds)]++);
      EXPECT_EQ(bytes, size_of(number % rounds));
    });
    ASSERT_FALSE(HasFailure());
    if (now == 0) std::this_thread::yield();
    taken += now;
  }
  EXPECT_FALSE(pair.arrived());
  EXPECT_GT(pair.by_flux.load(), 0);
}

// Two threads send in turn, so all messages have one order. Between their fluxes lie many in which nothing comes, and hardly any
// messages wait: so the one, and then the other, sends while the receiver is on its way from flux to flux.
TEST(Flux, MessagesOfThreadsThatSynchronizeArriveInTheirOrder) {
  constexpr int threads = 2, messages = 5000, idle_threads = 1000;
  Pair pair(segment);
  std::atomic<int> turn{0}, taken{0};
  const auto send_in_turn = [&](const std::stop_token& over, int t) {
    for (int i = t; i < messages && !over.stop_requested();)
      if (turn.load(std::memory_order_acquire) == i && taken.load(std::memory_order_relaxed) >= i - 2 &&
          pair.send(i, size_of(i / threads))) {
        turn.store(i + 1, std::memory_order_release);
        i += threads;
      } else {
        std::this_thread::yield();
      }
  };
  int next = 0;
  const auto receive = [&] {
    const int now = pair.receive(poll_batch, [&](int number, std::size_t) {
      if (number < messages) EXPECT_EQ(number, next++);
    });
    taken.store(next, std::memory_order_relaxed);
    if (now == 0) std::this_thread::yield();
  };

  std::jthread first(send_in_turn, 0);
  while (next < 1) receive();
  std::vector<std::jthread> idle;
  std::latch sent(idle_threads), over(1);
  for (int i = 0; i < idle_threads; ++i)
    idle.emplace_back([&, i] {
      EXPECT_TRUE(pair.send(messages + i, 8));
      sent.count_down();
      over.wait();
    });
  sent.wait();
  receive();
  std::jthread second(send_in_turn, 1);
  while (next < messages && !HasFailure()) receive();
  over.count_down();
}

// More threads than there would be room for, one after the other.
TEST(Flux, ThreadsThatEndLeaveTheirFluxesToOthers) {
  Pair pair(node::bytes_for_channels(2) + (std::size_t{1} << 20));
  constexpr int threads = 1000;
  int next = 0;
  for (int t = 0; t < threads; ++t) {
    std::thread([&] { ASSERT_TRUE(pair.send(t, 8)); }).join();
    pair.receive(1, [&](int number, std::size_t) { EXPECT_EQ(number, next++); });
  }
  EXPECT_EQ(next, threads);
  EXPECT_EQ(pair.by_flux.load(), threads);
}

// A thread that has used the fluxes of an endpoint that is gone.
TEST(Flux, AnotherEndpointHasOthers) {
  for (int i = 0; i < 3; ++i) {
    Pair pair(segment);
    ASSERT_TRUE(pair.send(i, 8));
    EXPECT_TRUE(pair.arrived());
    int got = -1;
    EXPECT_EQ(pair.receive(1, [&](int number, std::size_t) { got = number; }), 1);
    EXPECT_EQ(got, i);
    EXPECT_FALSE(pair.arrived());
  }
}

}  // namespace
}  // namespace heddle::lln::shm
