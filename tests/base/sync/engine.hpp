// Runs test bodies under the model checker.
//
// A body is enrolled under a name for a number of threads. Exploring it means, in this order: a full search of all
// interleavings, cut off after a number of executions; if it was cut off, a search of all interleavings with few
// preemptions, cut off likewise, and then random executions, which also see older values of memory.
#pragma once

#include <cstdint>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include "base/platform/checker.hpp"
#include "kit.hpp"

namespace heddle::test {

template <>
struct Failure<platform::Checker> {
  static void raise(const char* what) {
    rl::ctx().fail_test(what, rl::test_result_user_assert_failed, rl::debug_info("require", "", 0));
  }
};

// A body as the engine sees it. Bodies live in one static buffer: memory from the heap would be one more
// thing that the checker permutes.
class Program {
 public:
  virtual ~Program() = default;
  virtual void thread(unsigned id) = 0;
  virtual void finish() = 0;
};

struct Enrolled {
  std::string name;  // kind/algorithm/threads
  unsigned threads;
  std::function<Program*(void* memory)> make;
  bool broken = false;  // on purpose: the checker must find that
};

inline constexpr std::size_t program_bytes = 64 * 1024;
std::vector<Enrolled>& roll();

template <class Body>
void enroll(std::string name, unsigned threads, unsigned rounds, bool broken = false) {
  struct Wrapped final : Program {
    Wrapped(unsigned n, unsigned r) : body(n, r) {}
    void thread(unsigned id) override { body.thread(id); }
    void finish() override { body.finish(); }
    Body body;
  };
  static_assert(sizeof(Wrapped) <= program_bytes);
  roll().push_back({name + "/" + std::to_string(threads), threads,
                    [threads, rounds](void* memory) -> Program* { return new (memory) Wrapped(threads, rounds); },
                    broken});
}

struct Effort {
  std::uint64_t full = 20'000;     // executions of the full search before it is cut off
  std::uint64_t bounded = 20'000;  // of the search with few preemptions
  unsigned preemptions = 3;
  std::uint64_t random = 20'000;
};

struct Verdict {
  std::string failure;  // empty if none was found
  std::uint64_t executions = 0;
  bool exhaustive = false;          // the full search came to its end
  bool exhaustive_bounded = false;  // the bounded search did
};

// Explores one program. With `explain`, the history of a failed execution goes to standard output.
Verdict explore(const Enrolled& program, const Effort& effort, bool explain);

}  // namespace heddle::test
