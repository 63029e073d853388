// How sync_bench measures: a crew of threads repeats an operation for a while; several runs for throughput, and one
// more that reads the clock, for hand-over and waiting time.
#pragma once

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <latch>
#include <memory>
#include <thread>
#include <vector>

#include "base/platform/native.hpp"

namespace heddle::bench {

struct Setting {
  unsigned threads = 1;
  bool pinned = false;
  unsigned work_ns = 0;
  unsigned lines = 1;
};

struct Timing {
  int milliseconds = 50;
  int runs = 3;
};

struct Result {
  double ops = 0;
  double ops_min = 0;
  double ops_max = 0;
  double jain = 1;
  double handover_ns = 0;
  double longest_wait_us = 0;
};

inline void spin(std::uint64_t n) {
  for (; n != 0; --n) asm volatile("" ::: "memory");
}

// How many rounds of spin() take so long, measured once.
inline std::uint64_t spins_of(unsigned nanoseconds) {
  static const double per_ns = [] {
    constexpr std::uint64_t probe = 20'000'000;
    spin(probe);
    const std::int64_t begin = platform::Native::now();
    spin(probe);
    return static_cast<double>(probe) / static_cast<double>(platform::Native::now() - begin);
  }();
  return static_cast<std::uint64_t>(per_ns * nanoseconds);
}

inline void pin(unsigned id) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(id % std::max(1U, std::thread::hardware_concurrency()), &one);
  pthread_setaffinity_np(pthread_self(), sizeof one, &one);
}

struct alignas(platform::cache_line) Tally {
  std::uint64_t operations = 0;
  std::int64_t longest = 0;
  std::int64_t began = 0;
};

// One run. Returns the seconds that it took.
template <bool Timed, class Bench>
double run_crew(Bench& bench, const Setting& s, int milliseconds, std::vector<Tally>& tallies) {
  std::atomic<bool> stop{false};
  std::latch ready(s.threads + 1);
  std::vector<std::jthread> crew;
  for (unsigned id = 0; id != s.threads; ++id) {
    crew.emplace_back([&, id] {
      if (s.pinned) pin(id);
      Tally mine;
      ready.arrive_and_wait();
      mine.began = platform::Native::now();
      while (!stop.load(std::memory_order_relaxed)) {
        if constexpr (Timed) {
          mine.longest = std::max(mine.longest, bench.timed_operation(id));
        } else {
          bench.operation(id);
        }
        ++mine.operations;
      }
      tallies[id] = mine;
      bench.finish(id);
    });
  }
  ready.arrive_and_wait();
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  stop.store(true, std::memory_order_relaxed);
  const std::int64_t end = platform::Native::now();
  crew.clear();
  // The crew may have begun long before this thread ran again.
  const std::int64_t begin = std::ranges::min_element(tallies, {}, &Tally::began)->began;
  return static_cast<double>(end - begin) * 1e-9;
}

// The threads whose operations count: all, unless the bench says otherwise.
template <class Bench>
bool counted(unsigned id) {
  if constexpr (requires { Bench::counts(id); }) {
    return Bench::counts(id);
  } else {
    return true;
  }
}

// How much of its throughput something keeps when it has more threads. The speed of a shared machine can change by half
// within seconds, so runs with few and with many threads take turns, and each ratio is that of two neighbours.
struct Kept {
  double ratio = 0;
  double least = 0;
  double greatest = 0;
  double few = 0;  // operations a second
  double many = 0;
};

template <class Values>
double median_of(Values& values) {
  std::ranges::sort(values);
  return values.empty() ? 0 : static_cast<double>(values[values.size() / 2]);
}

template <class Bench>
double throughput(const Setting& s, int milliseconds) {
  const auto bench = std::make_unique<Bench>(s);
  std::vector<Tally> tallies(s.threads);
  const double seconds = run_crew<false>(*bench, s, milliseconds, tallies);
  std::uint64_t operations = 0;
  for (const Tally& t : tallies) operations += t.operations;
  return static_cast<double>(operations) / seconds;
}

template <class Bench>
Kept compare(const Setting& few, const Setting& many, const Timing& timing) {
  std::vector<double> ratios;
  std::vector<double> of_few;
  std::vector<double> of_many;
  for (int r = 0; r != timing.runs; ++r) {
    of_few.push_back(throughput<Bench>(few, timing.milliseconds));
    of_many.push_back(throughput<Bench>(many, timing.milliseconds));
    ratios.push_back(of_many.back() / of_few.back());
  }
  Kept kept{.ratio = median_of(ratios), .few = median_of(of_few), .many = median_of(of_many)};
  kept.least = ratios.front();
  kept.greatest = ratios.back();
  return kept;
}

template <class Bench>
Result measure(const Setting& s, const Timing& timing) {
  Result result;
  std::vector<double> ops;
  std::vector<double> jains;
  std::vector<Tally> tallies(s.threads);
  for (int r = 0; r != timing.runs; ++r) {
    const auto bench = std::make_unique<Bench>(s);
    const double seconds = run_crew<false>(*bench, s, timing.milliseconds, tallies);
    double sum = 0;
    double squares = 0;
    unsigned n = 0;
    for (unsigned id = 0; id != s.threads; ++id) {
      if (!counted<Bench>(id)) continue;
      const auto x = static_cast<double>(tallies[id].operations);
      sum += x;
      squares += x * x;
      ++n;
    }
    ops.push_back(sum / seconds);
    jains.push_back(squares == 0 ? 1 : sum * sum / (n * squares));
  }
  result.jain = median_of(jains);
  result.ops = median_of(ops);
  result.ops_min = ops.front();
  result.ops_max = ops.back();

  const auto bench = std::make_unique<Bench>(s);
  run_crew<true>(*bench, s, timing.milliseconds, tallies);
  result.handover_ns = median_of(bench->handovers());
  for (const Tally& t : tallies) result.longest_wait_us = std::max(result.longest_wait_us, t.longest * 1e-3);
  return result;
}

}  // namespace heddle::bench
