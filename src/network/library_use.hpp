// Who is in a network's library when the process ends.
//
// The library ends with the process: its destructors free what its calls need. Threads go on meanwhile: a communication thread, which lives as
// long as the process; threads of a program that exits without MPI_Finalize; threads of the library's own. So a handler of exit(),
// which runs before those destructors, shuts every end: nobody enters the library through it any more, and when the last one has left,
// the end gives back what it has of the library.
//
// The handler takes no lock of a VNI: exit() may be called by a signal's handler, in a thread that holds one. Then it waits for that thread in
// vain, for a second, and the end stays as it is.
#pragma once

#include <atomic>
#include <functional>

namespace heddle::lln {

// Of one end.
class LibraryUse {
 public:
  // `give_back` is called at most once, by exit(). Throws std::bad_alloc.
  explicit LibraryUse(std::function<void()> give_back);
  ~LibraryUse();
  LibraryUse(const LibraryUse&) = delete;
  LibraryUse& operator=(const LibraryUse&) = delete;

  // A call of the library, or several: under the VNI's protection, and one in another is one with it. False: it is shut.
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

  // Either this thread sees that it is shut, or whoever shuts it sees that this thread is inside: both stores are ordered before the loads
  // behind them.
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
