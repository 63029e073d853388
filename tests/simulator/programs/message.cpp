// A thread writes data and then a flag, both atomic; another one that sees the flag must see the data. `relaxed` omits what
// that needs on a machine with a weak memory model; x86 keeps stores in order all the same.
#include <atomic>
#include <cstring>

#include "pair.hpp"

int main(int, char** argv) {
  const auto order = std::strcmp(argv[1], "relaxed") == 0 ? std::memory_order_relaxed : std::memory_order_release;
  static std::atomic<int> data, flag, other;
  static int seen = 1;
  together(
      [&] {
        data.store(1, std::memory_order_relaxed);
        flag.store(1, order);
        for (int i = 0; i != 4000; ++i)
          static_cast<void>(other.load(std::memory_order_relaxed));  // time to leave the core
      },
      [&] {
        for (int i = 0; i != 4000; ++i)
          if (flag.load(std::memory_order_acquire) != 0) {
            seen = data.load(std::memory_order_relaxed);
            return;
          }
      });
  return seen == 1 ? 0 : 1;
}
