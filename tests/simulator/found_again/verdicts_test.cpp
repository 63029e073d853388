// A rank fails while another one goes through its operations because of something else. Its messages end when the next verdicts
// close it, and not before: their answers may be on their way.
//
// One thread is rank 0, and rank 2 of another node; the other one is rank 1, and mpiexec, which reports its end.
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <optional>
#include <thread>

#include "launch/boot/news.hpp"
#include "messaging/message/simulator/job.hpp"
#include "messaging/message/simulator/message.hpp"
#include "mpi/ft/of_rank.hpp"

namespace heddle::message::simulator {
namespace {

void poll(VniState& state) {
  Wakeups wakeups;
  (void)state.drain(lln::poll_batch, wakeups);
}

// As ft::OfRank does.
void sweep(Job& job, int rank) {
  const boot::World& world = job.world(rank);
  ft::Judgment judgment;
  const std::uint32_t known = world.failures().failures.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i != known; ++i) judgment.gone_ranks.push_back(world.failed(i));
  std::ranges::sort(judgment.gone_ranks);
  Wakeups wakeups;
  (void)job[rank].sweep(judgment, wakeups);
}

TEST(Verdicts, AreOfOneMoment) {
  constexpr int failing = 1, living = 2;
  Job job({.one_process = true, .survives_failures = true});
  const Shape shape{.from = 0, .to = failing, .mode = Mode::synchronous};
  std::optional<Sent> sent(std::in_place, job, shape, 1, 1);
  Received received(job, shape, 0, 1);
  sent->start();
  std::thread fails([&] {
    received.start();
    while (!received.is_done()) poll(job[failing]);
    boot::News(job.world(failing).header(), nullptr, {}).take(boot::Frame(boot::FrameKind::failed).add(failing));
  });
  while (!sent->is_done()) {
    poll(job[0]);
    sweep(job, 0);
    sched_yield();
  }
  sent.reset();

  // A send to another rank, with the same request.
  Shape other = shape;
  other.to = living;
  Sent next(job, other, 2, 2);
  next.start();
  fails.join();
  job.kill(failing);
  ASSERT_TRUE(job.resolve());
  ASSERT_FALSE(next.is_done()) << "an answer to an earlier send has ended it";
  Received last(job, other, 0, 2);
  last.start();
  ASSERT_TRUE(job.resolve());
  ASSERT_TRUE(next.is_done());
  last.check(next);
}

}  // namespace
}  // namespace heddle::message::simulator
