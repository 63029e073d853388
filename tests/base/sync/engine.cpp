#include "engine.hpp"

#include <iostream>

namespace heddle::test {

std::vector<Enrolled>& roll() {
  static std::vector<Enrolled> all;
  return all;
}

namespace {

const Enrolled* current = nullptr;
std::uint64_t executions_left = 0;
std::uint64_t executions_done = 0;
alignas(256) std::byte memory[program_bytes];

// One suite for all programs, so that Relacy's machinery is compiled once for each number of threads.
template <unsigned Threads>
struct Suite : rl::test_suite<Suite<Threads>, Threads> {
  Suite() {
    ++platform::execution;
    program = current->make(memory);
  }
  ~Suite() { program->~Program(); }
  void thread(unsigned id) { program->thread(id); }
  void after() {
    program->finish();
    ++executions_done;
    if (--executions_left == 0) rl::ctx().rl_until("enough", rl::debug_info("after", "", 0));
  }
  Program* program;
};

template <unsigned Threads, class Scheduler>
Verdict search(rl::scheduler_type_e type, std::uint64_t executions, unsigned preemptions, bool explain) {
  rl::ostringstream text;  // Relacy's: it outlives the heap that Relacy puts in place of the real one
  rl::test_params params;
  params.output_stream = explain ? &std::cout : &text;
  params.progress_stream = &text;
  params.search_type = type;
  params.context_bound = preemptions;
  params.iteration_count = executions + 1;
  params.execution_depth_limit = 5000;
  executions_left = executions;
  executions_done = 0;

  using Run = Suite<Threads>;
  rl::ostringstream state;
  rl::test_result_e result = rl::run_test<Run, Scheduler>(params, state, false);
  Verdict verdict;
  verdict.executions = executions_done;
  if (result == rl::test_result_success) {
    verdict.exhaustive = true;
  } else if (result != rl::test_result_until_condition_hit) {
    verdict.failure = rl::test_result_str(result);
    if (explain) {  // again from the same state, this time with its history
      params.initial_state = state.str();
      params.collect_history = true;
      executions_left = 2;
      rl::run_test<Run, Scheduler>(params, state, true);
    }
  }
  return verdict;
}

template <unsigned Threads>
Verdict explore_with(const Effort& effort, bool explain) {
  Verdict all;
  if (effort.full != 0) {
    all = search<Threads, rl::full_search_scheduler<Threads>>(rl::sched_full, effort.full, 0, explain);
    if (all.exhaustive || !all.failure.empty()) return all;
  }
  if (effort.bounded != 0) {
    const Verdict bounded = search<Threads, rl::context_bound_scheduler<Threads>>(rl::sched_bound, effort.bounded,
                                                                                  effort.preemptions, explain);
    all.executions += bounded.executions;
    all.exhaustive_bounded = bounded.exhaustive;
    all.failure = bounded.failure;
    if (!all.failure.empty()) return all;
  }
  if (effort.random != 0) {
    const Verdict random = search<Threads, rl::random_scheduler<Threads>>(rl::sched_random, effort.random, 0, explain);
    all.executions += random.executions;
    all.failure = random.failure;
  }
  return all;
}

}  // namespace

Verdict explore(const Enrolled& program, const Effort& effort, bool explain) {
  current = &program;
  switch (program.threads) {
    case 2:
      return explore_with<2>(effort, explain);
    case 3:
      return explore_with<3>(effort, explain);
    case 4:
      return explore_with<4>(effort, explain);
    default:
      std::fprintf(stderr, "%s: the checker is built for 2 to 4 threads\n", program.name.c_str());
      std::exit(2);
  }
}

}  // namespace heddle::test
