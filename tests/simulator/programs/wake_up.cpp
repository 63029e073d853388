// A thread sleeps on a word until another one has set it; `lost` looks at the word, and then sleeps whatever it is by then.
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "pair.hpp"

int main(int, char** argv) {
  const bool lost = std::strcmp(argv[1], "lost") == 0;
  static std::atomic<unsigned> set, word;
  together(
      [&] {
        while (set.load() == 0) {
          const unsigned expected = lost ? word.load() : 0;
          syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
        }
      },
      [&] {
        set.store(1);
        word.store(1);
        syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
      });
  return 0;
}
