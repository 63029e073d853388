// Qthreads as the team of a benchmark program (common/team.h), all on the shepherd that asks.
#include <qthread/qthread.h>

#include <cstdint>
#include <cstdlib>
#include <vector>

namespace {

void (*run_member)(int);

// Before MPI is there: the library looks then whose thread it is called by.
const int initialized = [] {
  setenv("QTHREAD_STACK_SIZE", "65536", 0);
  setenv("QTHREAD_NUM_SHEPHERDS", "1", 0);
  setenv("QTHREAD_NUM_WORKERS_PER_SHEPHERD", "1", 0);
  setenv("QTHREAD_AFFINITY", "no", 0);
  return qthread_initialize();
}();

}  // namespace

extern "C" [[gnu::visibility("default")]] void bench_run_threads(int n, void (*member)(int)) {
  run_member = member;
  std::vector<aligned_t> done(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i)
    qthread_fork(
        [](void* number) -> aligned_t {
          run_member(static_cast<int>(reinterpret_cast<std::intptr_t>(number)));
          return 0;
        },
        reinterpret_cast<void*>(static_cast<std::intptr_t>(i)), &done[static_cast<std::size_t>(i)]);
  for (aligned_t& one : done) qthread_readFF(nullptr, &one);
}
