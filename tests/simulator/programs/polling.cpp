// More threads than cores take a ticket lock and poll for their turn without a pause: each run ends all the same.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

int main(int, char** argv) {
  const int threads = std::atoi(argv[1]);
  const int rounds = std::atoi(argv[2]);
  alignas(64) static std::atomic<unsigned> next;
  alignas(64) static std::atomic<unsigned> serving;
  alignas(64) static std::atomic<int> started;
  static long counted = 0;
  std::vector<std::thread> all;
  for (int i = 0; i != threads; ++i)
    all.emplace_back([&] {
      started.fetch_add(1);
      while (started.load() != threads) {
      }
      for (int round = 0; round != rounds; ++round) {
        const unsigned mine = next.fetch_add(1);
        while (serving.load(std::memory_order_acquire) != mine) {
        }
        ++counted;
        serving.store(mine + 1, std::memory_order_release);
      }
    });
  for (std::thread& thread : all) thread.join();
  std::printf("%ld\n", counted);
  return counted == static_cast<long>(threads) * rounds ? 0 : 1;
}
