// Kernel threads, as the tests of threads use them. Every runtime has a header of this name with the same in it.
#pragma once

#include <barrier>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <latch>
#include <mutex>
#include <thread>
#include <vector>

namespace test {

using Mutex = std::mutex;
using Condition = std::condition_variable;
using Barrier = std::barrier<>;

inline void yield() { std::this_thread::yield(); }
inline void sleep(std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }
// Where a thread calls MPI again and again without ever waiting: those of the kernel are interrupted for the others.
inline void be_interrupted() {}

// Runs body(0) ... body(n - 1) in n threads that start together, and waits for all.
inline void in_threads(int n, const std::function<void(int)>& body) {
  std::latch all_here(n);
  std::vector<std::jthread> team;
  for (int t = 0; t < n; ++t) {
    team.emplace_back([&, t] {
      all_here.arrive_and_wait();
      body(t);
    });
  }
}

}  // namespace test
