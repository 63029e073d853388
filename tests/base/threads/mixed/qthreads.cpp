#include <qthread/qthread.h>

#include <cstdlib>

#include "base/threads/mixed/crew.hpp"

namespace {

struct Task {
  const std::function<void(int)>* body;
  int number;
  aligned_t done;
};

void run(int n, const std::function<void(int)>& body) {
  qthread_initialize();
  std::vector<Task> tasks;
  for (int i = 0; i < n; ++i) tasks.push_back({&body, i, 0});
  for (Task& task : tasks)
    qthread_fork(
        [](void* what) -> aligned_t {
          const Task& me = *static_cast<Task*>(what);
          (*me.body)(me.number);
          return 0;
        },
        &task, &task.done);
  for (Task& task : tasks) qthread_readFF(nullptr, &task.done);
  qthread_finalize();
}

// While there is one thread: the other runtimes look into the environment when they start.
const bool configured = [] {
  setenv("QTHREAD_STACK_SIZE", "262144", 0);
  setenv("QTHREAD_NUM_SHEPHERDS", "1", 0);
  setenv("QTHREAD_NUM_WORKERS_PER_SHEPHERD", "1", 0);
  setenv("QTHREAD_AFFINITY", "no", 0);
  return true;
}();

const test::Registered registered({"qthreads", run});

}  // namespace
