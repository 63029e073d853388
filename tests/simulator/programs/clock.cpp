// Threads that copy memory and read the clock, one after the other. It never goes back.
//
// clock THREADS ROUNDS
#include <time.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

namespace {

std::int64_t now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

std::mutex mutex;
std::int64_t latest = 0;
std::atomic<int> wrong{0};

void copy_and_look(int rounds) {
  std::vector<char> from(std::size_t{128} << 10), to(from.size());
  for (int i = 0; i < rounds; ++i) {
    from[0] = static_cast<char>(i);
    std::memcpy(to.data(), from.data(), from.size());
    const std::lock_guard lock(mutex);
    const std::int64_t time = now();
    if (time < latest || to[0] != from[0]) ++wrong;
    latest = time;
  }
}

}  // namespace

int main(int, char** argv) {
  std::vector<std::thread> threads;
  for (int i = 0; i < std::atoi(argv[1]); ++i) threads.emplace_back(copy_and_look, std::atoi(argv[2]));
  for (std::thread& thread : threads) thread.join();
  if (wrong != 0) std::printf("the clock went back, or a copy failed, %d times\n", wrong.load());
  return wrong != 0 ? 1 : 0;
}
