// A scenario that two ranks play again and again, while in each round another allocation of a victim fails (running_out.cpp).
#pragma once

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>

#include "messaging/p2p/failing_malloc.hpp"
#include "mpi/check.hpp"

namespace test {

inline MPI_Comm quiet;  // for what the test itself says
constexpr long many_rounds = 400;
inline int rounds = 0;

// One round: which allocation fails, and whether it did.
struct Round {
  long at;
  long seen = 0;
  bool victim;
  int more = 0;  // with each round of the program, so that what is kept from earlier ones never is enough
  bool failed() const { return seen >= at; }
};

// An MPI call while memory may run out. True if it succeeded; if not, it said why.
template <class Call>
bool tried(Round& round, Call&& call, const char* what) {
  if (!round.victim) {
    equal(call(), MPI_SUCCESS, what);
    return true;
  }
  Shortage& shortage = *test_shortage();
  shortage.seen = round.seen;
  shortage.at = round.at;
  shortage.on = true;
  const int error = call();
  shortage.on = false;
  round.seen = shortage.seen;
  if (error == MPI_SUCCESS) return true;
  equal(class_of(error), MPI_ERR_NO_MEM, what);
  check(round.failed(), "it has run out of memory in this round");
  return false;
}

// Again, if it did not succeed.
template <class Call>
void insist(Round& round, Call&& call, const char* what) {
  if (!tried(round, call, what)) check(tried(round, call, what), what);
}

// Starts an operation and waits for it. A failed operation is begun again; a request that a failed wait has left is waited for again.
template <class Start>
void complete(Round& round, Start&& start, MPI_Request& request, const char* what, bool persistent = false) {
  for (int attempts = 0; attempts < 3; ++attempts) {
    if (!tried(round, start, what)) continue;
    for (;;) {
      if (tried(
              round, [&] { return MPI_Wait(&request, MPI_STATUS_IGNORE); }, what))
        return;
      if (persistent || request == MPI_REQUEST_NULL) break;
    }
  }
  check(false, what);
}

// Until both have succeeded in the same attempt.
template <class Call>
void together(Round& round, Call&& call, const char* what) {
  for (int attempts = 0; attempts < 3; ++attempts) {
    int failed = !tried(round, call, what);
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, quiet);
    if (!failed) return;
  }
  check(false, what);
}

// Both ranks: until a round has no allocation left that could fail. The number of failures.
inline long play(const char* name, int victim, const std::function<void(Round&)>& scenario) {
  long failures = 0;
  for (long n = 1; n <= many_rounds; ++n) {
    Round round{.at = n, .victim = victim < 0 || rank() == victim, .more = ++rounds};
    scenario(round);
    MPI_Barrier(quiet);
    int failed = round.victim && round.failed();
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, quiet);
    if (!failed) {
      if (rank() == 0 && std::getenv("VERBOSE")) std::printf("%s, victim %d: %ld failures\n", name, victim, failures);
      return failures;
    }
    ++failures;
  }
  check(victim >= 0, "a scenario ends");
  return failures;
}

// The same by a thread that has called nothing before: what a thread needs once, it needs then.
inline std::function<void(Round&)> by_new_thread(const std::function<void(Round&)>& scenario) {
  return [scenario](Round& round) { std::thread([&] { scenario(round); }).join(); };
}

// And while another thread is in the library again and again: what is needed only where two meet is then needed anywhere.
inline std::function<void(Round&)> by_new_thread_beside_another(const std::function<void(Round&)>& scenario) {
  return [scenario](Round& round) {
    std::atomic<bool> over = false;
    std::thread other([&] {
      int flag;
      while (!over) MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, quiet, &flag, MPI_STATUS_IGNORE);
    });
    by_new_thread(scenario)(round);
    over = true;
    other.join();
  };
}

}  // namespace test
