// Each of two threads sets its own flag and reads the other's: with `fenced` at least one sees the other; without, on every
// real machine, both may see nothing.
#include <atomic>
#include <cstring>

#include "pair.hpp"

int main(int, char** argv) {
  const bool fenced = std::strcmp(argv[1], "fenced") == 0;
  static std::atomic<int> flags[2];
  static int seen[2];
  const auto run = [&](int me) {
    flags[me].store(1, std::memory_order_release);
    if (fenced) std::atomic_thread_fence(std::memory_order_seq_cst);
    seen[me] = flags[1 - me].load(std::memory_order_acquire);
  };
  together([&] { run(0); }, [&] { run(1); });
  return seen[0] == 0 && seen[1] == 0 ? 1 : 0;
}
