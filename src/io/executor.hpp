// Carries out nonblocking file operations while the program goes on, by a few threads.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace heddle {
struct Rank;
}

namespace heddle::io {

// Work that is to be done once. It may be gone as soon as it is done.
class Job {
 public:
  virtual void run() = 0;
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

  // Begins it. The rank is notified when it is done. Where the system gives us no thread at all, the caller does it.
  void submit(Job& job);

 private:
  static constexpr std::size_t max_threads = 4;
  void work();

  Rank& rank_;
  std::mutex mutex_;  // only kernel threads of the library sleep here for long
  std::condition_variable wake_;
  Job* first_ = nullptr;
  Job* last_ = nullptr;
  std::size_t idle_ = 0;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace heddle::io
