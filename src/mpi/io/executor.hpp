// Executes nonblocking file operations while the program goes on: an operation on one part of a file by the kernel's
// io_uring (ring.hpp), all others, and all if the kernel refuses a ring, by a few threads.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "mpi/io/ring.hpp"

namespace heddle {
struct Rank;
}

namespace heddle::io {

// Work to be done once. It may be destroyed as soon as it is done.
class Job {
 public:
  virtual void run() = 0;
  // The same as one transfer, if it is one; its end calls Executor::finish.
  virtual Transfer* transfer() { return nullptr; }
  bool is_done() const { return done_.load(std::memory_order_acquire); }

 protected:
  ~Job() = default;

 private:
  friend class Executor;
  std::atomic<bool> done_{false};
  Job* next_ = nullptr;
};

class Executor {
 public:
  explicit Executor(Rank& rank);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // Begins it. The rank is notified when it is done. Without any thread of the system, the caller does it.
  void submit(Job& job);
  // For a transfer that has ended.
  void finish(Job& job);

 private:
  static constexpr std::size_t max_threads = 4;
  void work();
  bool submit_to_ring(Job& job);

  Rank& rank_;
  std::mutex mutex_;  // only kernel threads of the library sleep here for long
  std::condition_variable wake_;
  Job* first_ = nullptr;
  Job* last_ = nullptr;
  std::size_t idle_ = 0;
  bool ending_ = false;
  std::vector<std::thread> threads_;
  std::once_flag ring_made_;
  std::unique_ptr<Ring> ring_;
};

}  // namespace heddle::io
