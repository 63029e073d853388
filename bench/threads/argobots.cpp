// User-level threads of Argobots as the team of a benchmark program (common/team.h), all on the stream that asks.
#include <abt.h>

#include <cstdint>
#include <vector>

namespace {

void (*run_member)(int);

// Before MPI is there: the library looks then whose thread it is called by.
const int initialized = ABT_init(0, nullptr);

}  // namespace

extern "C" [[gnu::visibility("default")]] void bench_run_threads(int n, void (*member)(int)) {
  run_member = member;
  ABT_xstream stream;
  ABT_self_get_xstream(&stream);
  std::vector<ABT_thread> threads(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i)
    ABT_thread_create_on_xstream(
        stream, [](void* number) { run_member(static_cast<int>(reinterpret_cast<std::intptr_t>(number))); },
        reinterpret_cast<void*>(static_cast<std::intptr_t>(i)), ABT_THREAD_ATTR_NULL,
        &threads[static_cast<std::size_t>(i)]);
  for (ABT_thread& thread : threads) ABT_thread_free(&thread);  // waits
}
