// A thread that sleeps on its rank's doorbell is woken by a descriptor that can be read, or when it asked to look again.
#include "lln/watch.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <thread>

namespace heddle::lln {
namespace {

// Both live as long as the helper thread, which is as long as the process.
struct Watched {
  node::Doorbell bell{};
  Watch watch{bell};
};
Watched& watched() {
  static auto& it = *new Watched;
  return it;
}

// Sleeps on the bell until `holds`, as an engine does; how often it slept.
template <class F>
int sleep_until(int fd, std::int64_t after, F&& holds) {
  int slept = 0;
  while (!holds())
    slept += watched().bell.wait_once([&] { watched().watch.arm(fd, after); }, holds,
                                      [](std::uint32_t rings) { watched().bell.sleep(rings); });
  return slept;
}

TEST(Watch, WakesForADescriptor) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  for (int round = 0; round < 1000; ++round) {
    std::atomic<bool> written{false};
    std::thread writer([&] {
      if (round % 2 == 0) usleep(50);
      written.store(true);
      EXPECT_EQ(write(pipe[1], "x", 1), 1);
    });
    (void)sleep_until(pipe[0], 0, [&] { return written.load(); });
    writer.join();
    char byte;
    ASSERT_EQ(read(pipe[0], &byte, 1), 1);
  }
  close(pipe[0]);
  close(pipe[1]);
}

TEST(Watch, WakesAfterATime) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  int looks = 0;
  EXPECT_GT(sleep_until(pipe[0], 200'000, [&] { return ++looks > 20; }), 0);
  close(pipe[0]);
  close(pipe[1]);
}

}  // namespace
}  // namespace heddle::lln
