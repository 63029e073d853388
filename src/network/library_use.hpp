// Threads inside a network's library when the process ends.
//
// The destructors of the network's library free memory that its calls need, while threads still run: a communication
// thread, which lives as long as the process; threads of a program that exits without MPI_Finalize; threads of the
// library's own. So a handler of exit(), which runs before those destructors, shuts every end: no thread enters the
// network's library through it any more, and when the last one has left, the end releases its resources.
//
// The handler takes no lock of a VNI: a signal handler may call exit() in a thread that holds one. In that case it
// waits one second for that thread and leaves the end as it is.
#pragma once

#include <atomic>
#include <functional>

namespace heddle::lln {

// For one end.
class LibraryUse {
 public:
  // exit() calls `give_back` at most once. Throws std::bad_alloc.
  explicit LibraryUse(std::function<void()> give_back);
  ~LibraryUse();
  LibraryUse(const LibraryUse&) = delete;
  LibraryUse& operator=(const LibraryUse&) = delete;

  // One call of the network's library or several, with the VNI's lock held; nested scopes count as one. False: the end
  // is shut.
  class Inside {
   public:
    explicit Inside(LibraryUse& use) : use_(use), allowed_(use.enter()) {}
    ~Inside() { use_.leave(); }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

    explicit operator bool() const { return allowed_; }

   private:
    LibraryUse& use_;
    const bool allowed_;
  };

 private:
  struct All;
  static All& all();
  static void shut_all();

  // Either this thread sees that the end is shut, or the thread that shuts it sees this thread inside: both stores are
  // ordered before the loads behind them.
  bool enter() {
    if (depth_++ != 0) return true;
    inside_.store(true, std::memory_order_seq_cst);
    return !shut_.load(std::memory_order_seq_cst);
  }
  void leave() {
    if (--depth_ == 0) inside_.store(false, std::memory_order_release);
  }
  bool shut();

  std::function<void()> give_back_;
  int depth_ = 0;
  std::atomic<bool> inside_{false};
  std::atomic<bool> shut_{false};
};

}  // namespace heddle::lln
