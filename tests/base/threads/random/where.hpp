// The action of a thread, for the sentence that a failure prints.
#pragma once

#include <string>

#include "base/threads/team.hpp"

namespace random_program {

struct Where {
  unsigned seed = 0;
  int round = 0;
  int thread = 0;
  int step = -1;  // -1: the end of the round
};
inline thread_local Where where;

[[noreturn]] inline void failed(const std::string& what) {
  const int asked = test::team_size(1);
  const std::string setting = asked > 1 ? ", HEDDLE_TEST_THREADS=" + std::to_string(asked) : "";
  std::fprintf(stderr, "rank %d, thread %d, step %d: %s\nto repeat: %d ranks, arguments %u 1 %d%s\n", test::rank(),
               where.thread, where.step, what.c_str(), test::size(), where.seed, where.round, setting.c_str());
  std::fflush(nullptr);
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}
inline void expect(bool holds, const char* what) {
  if (!holds) failed(what);
}
inline void expect_equal(long long a, long long b, const char* what) {
  if (a != b) failed(std::string(what) + ": " + std::to_string(a) + " is not " + std::to_string(b));
}

}  // namespace random_program
