// Work units of Argobots, as the tests of threads use them: by turns all on the execution stream that asks; on two others;
// and beside kernel threads.
#pragma once

#include <abt.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <thread>
#include <vector>

namespace test {

// The calling kernel thread becomes an execution stream.
inline void use_argobots() {
  static const int once = ABT_init(0, nullptr);
  (void)once;
}

class Mutex {
 public:
  Mutex() {
    use_argobots();
    ABT_mutex_create(&mutex_);
  }
  ~Mutex() { ABT_mutex_free(&mutex_); }
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;
  void lock() { ABT_mutex_lock(mutex_); }
  void unlock() { ABT_mutex_unlock(mutex_); }
  ABT_mutex get() { return mutex_; }

 private:
  ABT_mutex mutex_;
};

class Condition {
 public:
  Condition() { ABT_cond_create(&condition_); }
  ~Condition() { ABT_cond_free(&condition_); }
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;
  template <class Holds>
  void wait(std::unique_lock<Mutex>& guard, Holds holds) {
    while (!holds()) ABT_cond_wait(condition_, guard.mutex()->get());
  }
  void notify_one() { ABT_cond_signal(condition_); }
  void notify_all() { ABT_cond_broadcast(condition_); }

 private:
  ABT_cond condition_;
};

class Barrier {
 public:
  explicit Barrier(int n) {
    use_argobots();
    ABT_barrier_create(static_cast<std::uint32_t>(n), &barrier_);
  }
  ~Barrier() { ABT_barrier_free(&barrier_); }
  Barrier(const Barrier&) = delete;
  Barrier& operator=(const Barrier&) = delete;
  void arrive_and_wait() { ABT_barrier_wait(barrier_); }

 private:
  ABT_barrier barrier_;
};

inline void yield() {
  if (ABT_self_yield() != ABT_SUCCESS) std::this_thread::yield();
}
inline void sleep(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) yield();
}
inline void be_interrupted() { yield(); }

struct Unit {
  const std::function<void(int)>* body;
  int t;
  ABT_thread thread;
};

// Runs body(first), body(first + step) ... in work units of these streams in turn, and waits for all.
inline void in_units(const std::vector<ABT_xstream>& streams, int first, int step, int n,
                     const std::function<void(int)>& body) {
  std::vector<Unit> team;
  for (int t = first; t < n; t += step) team.push_back({&body, t, ABT_THREAD_NULL});
  ABT_thread_attr attr;
  ABT_thread_attr_create(&attr);
  ABT_thread_attr_set_stacksize(attr, 256 * 1024);
  std::size_t next = 0;
  for (Unit& unit : team)
    ABT_thread_create_on_xstream(
        streams[next++ % streams.size()],
        [](void* what) {
          const Unit& me = *static_cast<Unit*>(what);
          (*me.body)(me.t);
        },
        &unit, attr, &unit.thread);
  ABT_thread_attr_free(&attr);
  for (Unit& unit : team) ABT_thread_free(&unit.thread);  // waits
}

inline void in_threads(int n, const std::function<void(int)>& body) {
  static int calls = 0;
  use_argobots();
  ABT_xstream mine;
  ABT_self_get_xstream(&mine);
  switch (calls++ % 3) {
    case 0:
      return in_units({mine}, 0, 1, n, body);
    case 1: {
      // Two streams with one pool: a unit that was suspended may go on in the other.
      ABT_pool pool;
      ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pool);
      std::vector<ABT_xstream> streams(2);
      for (ABT_xstream& stream : streams)
        ABT_xstream_create_basic(ABT_SCHED_BASIC_WAIT, 1, &pool, ABT_SCHED_CONFIG_NULL, &stream);
      in_units(streams, 0, 1, n, body);
      for (ABT_xstream& stream : streams) ABT_xstream_free(&stream);
      return;
    }
    default: {
      std::vector<std::jthread> kernel_threads;
      for (int t = 1; t < n; t += 2) kernel_threads.emplace_back([&body, t] { body(t); });
      in_units({mine}, 0, 2, n, body);
    }
  }
}

}  // namespace test
