// Two threads that call a function with a name of MPI's, in which they take a lock, and then sleep.
//
// calls ROUNDS
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "pair.hpp"

namespace {

class SpinLock {
 public:
  void lock() {
    while (word_.exchange(1) != 0)
      while (word_.load() != 0) {
      }
  }
  void unlock() { word_.store(0); }

 private:
  std::atomic<int> word_{0};
};

alignas(64) SpinLock lock;
alignas(64) std::mutex mutex;
alignas(64) long count = 0;

}  // namespace

extern "C" [[gnu::noinline, gnu::visibility("default")]] int MPI_Count() {
  lock.lock();
  ++count;
  lock.unlock();
  return 0;
}

int main(int, char** argv) {
  const int rounds = std::atoi(argv[1]);
  std::atomic<int> ready{0};
  const auto work = [&ready, rounds] {
    for (++ready; ready != 2;) {
    }
    for (int i = 0; i != rounds; ++i) MPI_Count();
    const std::lock_guard guard(mutex);
    std::this_thread::sleep_for(std::chrono::microseconds(5));
  };
  together(work, work);
  return count == 2 * rounds ? 0 : 1;
}
