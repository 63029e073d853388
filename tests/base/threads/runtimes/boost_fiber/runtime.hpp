// Fibers, as the tests of threads use them: by turns all on the kernel thread that asks; on two others; and beside kernel
// threads, so that fibers and kernel threads wait in the library at the same time and complete each other.
#pragma once

#include <boost/fiber/all.hpp>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

namespace test {

using Mutex = boost::fibers::mutex;
using Condition = boost::fibers::condition_variable;

class Barrier {
 public:
  explicit Barrier(int n) : barrier_(static_cast<std::size_t>(n)) {}
  void arrive_and_wait() { barrier_.wait(); }

 private:
  boost::fibers::barrier barrier_;
};

inline void yield() { boost::this_fiber::yield(); }
inline void sleep(std::chrono::milliseconds time) { boost::this_fiber::sleep_for(time); }
// Fibers are not interrupted: one that calls MPI again and again without ever waiting has to let others run.
inline void be_interrupted() { boost::this_fiber::yield(); }

// Runs body(first), body(first + step) ... in fibers of this kernel thread, and waits for all.
inline void in_fibers(int first, int step, int n, const std::function<void(int)>& body) {
  std::vector<boost::fibers::fiber> team;
  for (int t = first; t < n; t += step)
    team.emplace_back(std::allocator_arg, boost::fibers::protected_fixedsize_stack(256 * 1024),
                      [&body, t] { body(t); });
  for (boost::fibers::fiber& fiber : team) fiber.join();
}

inline void in_threads(int n, const std::function<void(int)>& body) {
  static int calls = 0;
  switch (calls++ % 3) {
    case 0:
      return in_fibers(0, 1, n, body);
    case 1: {
      const std::jthread one([&] { in_fibers(0, 2, n, body); });
      const std::jthread other([&] { in_fibers(1, 2, n, body); });
      return;
    }
    default: {
      std::vector<std::jthread> kernel_threads;
      for (int t = 1; t < n; t += 2) kernel_threads.emplace_back([&body, t] { body(t); });
      in_fibers(0, 2, n, body);
    }
  }
}

}  // namespace test
