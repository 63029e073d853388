#include "network/library_use.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace heddle::lln {

namespace {

constexpr auto limit = std::chrono::seconds(1);
constexpr auto pause = std::chrono::microseconds(100);

}  // namespace

// Never destroyed: ends may be closed while the process ends.
struct LibraryUse::All {
  std::mutex mutex;
  std::vector<LibraryUse*> uses;
  pid_t process = getpid();  // a forked child has no threads of ours and exits without this handler's work
};

LibraryUse::All& LibraryUse::all() {
  static All* const made = [] {
    (void)std::atexit(shut_all);
    return new All;
  }();
  return *made;
}

LibraryUse::LibraryUse(std::function<void()> give_back) : give_back_(std::move(give_back)) {
  All& every = all();
  const std::lock_guard guard(every.mutex);
  every.uses.push_back(this);
}

LibraryUse::~LibraryUse() {
  All& every = all();
  const std::lock_guard guard(every.mutex);
  std::erase(every.uses, this);
}

// True if no thread is inside any more.
bool LibraryUse::shut() {
  shut_.store(true, std::memory_order_seq_cst);
  const auto end = std::chrono::steady_clock::now() + limit;
  while (inside_.load(std::memory_order_seq_cst)) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(pause);
  }
  return true;
}

void LibraryUse::shut_all() {
  All& every = all();
  const std::unique_lock guard(every.mutex, std::try_to_lock);
  if (!guard.owns_lock() || getpid() != every.process) return;
  for (LibraryUse* const use : every.uses)
    if (use->shut()) use->give_back_();
}

}  // namespace heddle::lln
