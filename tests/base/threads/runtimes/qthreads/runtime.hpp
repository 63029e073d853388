// Qthreads, as the tests of threads use them: by turns all on the shepherd that asks; on all there are; and beside kernel
// threads. Its own words that are full or empty put kernel threads to sleep for each operation, so what the tests wait with
// is looked at by turns.
#pragma once

#include <qthread/qthread.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace test {

// The calling kernel thread becomes a shepherd, beside another one.
inline void use_qthreads() {
  static const int once = [] {
    setenv("QTHREAD_STACK_SIZE", "262144", 0);
    setenv("QTHREAD_NUM_SHEPHERDS", "2", 0);
    setenv("QTHREAD_NUM_WORKERS_PER_SHEPHERD", "1", 0);
    setenv("QTHREAD_AFFINITY", "no", 0);
    setenv("QTHREAD_SPINCOUNT", "300", 0);  // of an idle shepherd; there are more of them than cores
    return qthread_initialize();
  }();
  (void)once;
}

inline void yield() {
  if (qthread_shep() == NO_SHEPHERD) return std::this_thread::yield();
  qthread_yield();
}
inline void sleep(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) yield();
}
inline void be_interrupted() { yield(); }

class Mutex {
 public:
  void lock() {
    while (held_.test_and_set(std::memory_order_acquire)) yield();
  }
  void unlock() { held_.clear(std::memory_order_release); }

 private:
  std::atomic_flag held_;
};

class Condition {
 public:
  template <class Holds>
  void wait(std::unique_lock<Mutex>& guard, Holds holds) {
    while (!holds()) {
      guard.unlock();
      yield();
      guard.lock();
    }
  }
  void notify_one() {}
  void notify_all() {}
};

class Barrier {
 public:
  explicit Barrier(int n) : n_(n) {}
  void arrive_and_wait() {
    const int round = rounds_.load(std::memory_order_acquire);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == n_) {
      arrived_.store(0, std::memory_order_relaxed);
      rounds_.store(round + 1, std::memory_order_release);
    } else {
      while (rounds_.load(std::memory_order_acquire) == round) yield();
    }
  }

 private:
  const int n_;
  std::atomic<int> arrived_ = 0;
  std::atomic<int> rounds_ = 0;
};

struct Task {
  const std::function<void(int)>* body;
  int t;
  aligned_t done;
};

// Runs body(first), body(first + step) ... in threads of this shepherd, or of all in turn (NO_SHEPHERD), and waits for all.
inline void in_qthreads(qthread_shepherd_id_t shepherd, int first, int step, int n,
                        const std::function<void(int)>& body) {
  std::vector<Task> team;
  for (int t = first; t < n; t += step) team.push_back({&body, t, 0});
  for (Task& task : team)
    qthread_fork_to(
        [](void* what) -> aligned_t {
          const Task& me = *static_cast<Task*>(what);
          (*me.body)(me.t);
          return 0;
        },
        &task, &task.done, shepherd);
  for (Task& task : team) qthread_readFF(nullptr, &task.done);
}

inline void in_threads(int n, const std::function<void(int)>& body) {
  static int calls = 0;
  use_qthreads();
  switch (calls++ % 3) {
    case 0:
      return in_qthreads(qthread_shep(), 0, 1, n, body);
    case 1:
      return in_qthreads(NO_SHEPHERD, 0, 1, n, body);
    default: {
      std::vector<std::jthread> kernel_threads;
      for (int t = 1; t < n; t += 2) kernel_threads.emplace_back([&body, t] { body(t); });
      in_qthreads(qthread_shep(), 0, 2, n, body);
    }
  }
}

}  // namespace test
