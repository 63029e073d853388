// The effect of an exit on the ends of a network's library: no thread enters it any more, threads inside leave first, and then it is given back.
// Each case is a process of its own, which says by its exit code what it has seen.
#include "network/library_use.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

namespace heddle::lln {
namespace {

constexpr int well = 42, not_given_back = 43, used_afterwards = 44;

std::atomic<bool> given_back{false};
std::atomic<int> rounds{0};

// The equivalent of a library's destructor for these: it runs behind the handler that shuts its ends, as it was there before.
void end_of_library() { _exit(given_back ? well : not_given_back); }

LibraryUse* make_use() {
  (void)std::atexit(end_of_library);
  return new LibraryUse([] { given_back = true; });
}

void work(LibraryUse& use) {
  for (;;) {
    const LibraryUse::Inside inside(use);
    if (!inside) return;
    for (int i = 0; i < 100; ++i) {
      const LibraryUse::Inside nested(use);
      if (!nested || given_back) _exit(used_afterwards);
    }
    ++rounds;
  }
}

[[noreturn]] void exit_while_a_thread_works() {
  LibraryUse* const use = make_use();
  std::thread(work, std::ref(*use)).detach();
  while (rounds < 1000) std::this_thread::yield();
  std::exit(0);
}

[[noreturn]] void exit_inside() {
  LibraryUse* const use = make_use();
  const LibraryUse::Inside inside(*use);
  std::exit(0);
}

[[noreturn]] void exit_of_a_child() {
  LibraryUse* const use = make_use();
  const LibraryUse::Inside inside(*use);
  const pid_t child = fork();
  if (child == 0) std::exit(0);
  int status = 0;
  const auto begun = std::chrono::steady_clock::now();
  (void)waitpid(child, &status, 0);
  // It has waited for no thread, and given nothing back.
  const bool at_once = std::chrono::steady_clock::now() - begun < std::chrono::milliseconds(900);
  _exit(at_once && WIFEXITED(status) && WEXITSTATUS(status) == not_given_back ? well : used_afterwards);
}

[[noreturn]] void exit_without_ends() {
  delete make_use();
  given_back = true;  // there is nothing to give back
  std::exit(0);
}

TEST(LibraryUse, ReleasesUnusedNames) {
  for (int i = 0; i < 20; ++i) EXPECT_EXIT(exit_while_a_thread_works(), testing::ExitedWithCode(well), "");
}

TEST(LibraryUse, LeavesTheExitingThreadsUse) {
  EXPECT_EXIT(exit_inside(), testing::ExitedWithCode(not_given_back), "");
}

TEST(LibraryUse, IsNothingToAChild) { EXPECT_EXIT(exit_of_a_child(), testing::ExitedWithCode(well), ""); }

TEST(LibraryUse, ForgetsEndsThatAreGone) { EXPECT_EXIT(exit_without_ends(), testing::ExitedWithCode(well), ""); }

}  // namespace
}  // namespace heddle::lln
