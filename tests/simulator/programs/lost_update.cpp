// Two threads add to a counter; `torn` reads and writes it in two steps.
#include <atomic>
#include <cstring>

#include "pair.hpp"

int main(int, char** argv) {
  const bool torn = std::strcmp(argv[1], "torn") == 0;
  static std::atomic<int> counter;
  const auto add = [&] {
    for (int i = 0; i != 3; ++i)
      if (torn)
        counter.store(counter.load() + 1);
      else
        counter.fetch_add(1);
  };
  together(add, add);
  return counter.load() == 6 ? 0 : 1;
}
