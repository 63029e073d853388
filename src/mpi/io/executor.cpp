#include "mpi/io/executor.hpp"

#include <system_error>

#include "base/threads/library_thread.hpp"
#include "launch/rank/rank.hpp"
#include "messaging/p2p/p2p.hpp"

namespace heddle::io {

Executor::Executor(Rank& rank) : rank_(rank) {}

Executor::~Executor() {
  {
    const std::lock_guard guard(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool Executor::submit_to_ring(Job& job) {
  Transfer* const transfer = job.transfer();
  if (transfer == nullptr) return false;
  std::call_once(ring_made_, [this] { ring_ = Ring::make(); });
  return ring_ != nullptr && ring_->submit(*transfer);
}

void Executor::finish(Job& job) {
  job.done_.store(true, std::memory_order_release);
  p2p::notify(rank_, rank_.world_rank);
}

void Executor::submit(Job& job) {
  if (submit_to_ring(job)) return;
  {
    const std::lock_guard guard(mutex_);
    if (idle_ == 0 && threads_.size() < max_threads) {
      try {
        threads_.push_back(threads::make_library_thread([this] { work(); }));
      } catch (const std::system_error&) {  // the existing threads are enough
      }
    }
    if (!threads_.empty()) {
      job.next_ = nullptr;
      (first_ == nullptr ? first_ : last_->next_) = &job;
      last_ = &job;
      wake_.notify_one();
      return;
    }
  }
  job.run();
  job.done_.store(true, std::memory_order_release);
}

void Executor::work() {
  std::unique_lock guard(mutex_);
  for (;;) {
    ++idle_;
    wake_.wait(guard, [this] { return first_ != nullptr || ending_; });
    --idle_;
    if (first_ == nullptr) return;
    Job& job = *first_;
    first_ = job.next_;
    guard.unlock();
    job.run();
    finish(job);
    guard.lock();
  }
}

}  // namespace heddle::io
