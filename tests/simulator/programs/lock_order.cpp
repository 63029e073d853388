// Two threads take two mutexes; `crossed` in different orders.
#include <cstring>
#include <mutex>

#include "pair.hpp"

int main(int, char** argv) {
  const bool crossed = std::strcmp(argv[1], "crossed") == 0;
  static std::mutex first, second;
  const auto take = [](std::mutex& one, std::mutex& other) {
    one.lock();
    other.lock();
    other.unlock();
    one.unlock();
  };
  together([&] { take(first, second); }, [&] { crossed ? take(second, first) : take(first, second); });
  return 0;
}
