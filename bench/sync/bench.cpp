// Measures every lock, combining, queue and counter of sync/ from 1 to 64 threads; writes CSV to standard output.
//
//   sync_bench [--only=TEXT | --exactly=KIND/NAME] [--ms=N] [--runs=N] [--threads=N,N...] [--work=NS] [--pinned] [--quick] [--kept] [--list]
//
// A row is one algorithm with one number of threads, pinned (thread i on core i modulo cores) or left to the scheduler,
// one length of the critical section in nanoseconds and one footprint in cache lines. Outside of the critical section a
// thread works as long as inside. Columns: median, least and greatest throughput of several runs (operations a second);
// Jain's fairness index of the operations of each thread; from a run of its own, which reads the clock: the median
// hand-over (from the unlock of one thread to the lock of another; for queues from enqueue to dequeue; for counters from
// signal to wake) and the longest time that one operation waited.
//
// With --pinned there are no rows of threads that are left to the scheduler. --list prints the algorithms, kind and name, and
// measures nothing.
//
// With --kept a row is what is left of the throughput from the least to the greatest number of threads: the median, least
// and greatest ratio of neighbouring runs, which take turns, and the median throughput of each side.
#include "bench.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/sync/cc_synch.hpp"
#include "base/sync/competitive_counter.hpp"
#include "base/sync/dsm_synch.hpp"
#include "base/sync/kernel_counter.hpp"
#include "base/sync/user_counter.hpp"
#include "locks.hpp"
#include "queues.hpp"

namespace heddle::bench {
namespace {

using platform::Native;

// The work in a critical section: so many cache lines are written, and some time passes.
class CriticalWork {
 public:
  explicit CriticalWork(const Setting& s) : lines_(s.lines), spins_(spins_of(s.work_ns)), memory_(s.lines) {}

  void inside() {
    for (unsigned i = 0; i != lines_; ++i) memory_[i].value = memory_[i].value + 1;
    spin(spins_);
  }
  void outside() const { spin(spins_); }

 private:
  struct alignas(platform::cache_line) Line {
    volatile std::uint64_t value = 0;
  };
  unsigned lines_;
  std::uint64_t spins_;
  std::vector<Line> memory_;
};

// Notes, under mutual exclusion, when the last owner left and who it was.
struct alignas(platform::cache_line) LastOwner {
  unsigned id = ~0U;
  std::int64_t left = 0;
  std::vector<std::int64_t> handovers;

  void enter(unsigned self, std::int64_t now) {
    if (id != ~0U && id != self && handovers.size() < handovers.capacity()) handovers.push_back(now - left);
    id = self;
  }
  void leave() { left = Native::now(); }
};

template <sync::Lock L>
class LockBench {
 public:
  LockBench(const Setting& s) : work_(s), nodes_(s.threads) { last_.handovers.reserve(200'000); }

  void operation(unsigned id) {
    lock_.lock(nodes_[id]);
    work_.inside();
    lock_.unlock(nodes_[id]);
    work_.outside();
  }

  std::int64_t timed_operation(unsigned id) {
    const std::int64_t asked = Native::now();
    lock_.lock(nodes_[id]);
    const std::int64_t got = Native::now();
    last_.enter(id, got);
    work_.inside();
    last_.leave();
    lock_.unlock(nodes_[id]);
    work_.outside();
    return got - asked;
  }

  void finish(unsigned) {}
  std::vector<std::int64_t>& handovers() { return last_.handovers; }

 private:
  CriticalWork work_;
  alignas(platform::cache_line) L lock_;
  LastOwner last_;
  std::deque<typename L::node> nodes_;
};

struct Work {
  CriticalWork* work;
};
struct RunWork {
  void operator()(Work& w) const { w.work->inside(); }
};

template <class C>
class CombiningBench {
 public:
  CombiningBench(const Setting& s) : work_(s), nodes_(s.threads) {}

  void operation(unsigned id) {
    Work work{&work_};
    combining_.apply(nodes_[id], work);
    work_.outside();
  }

  std::int64_t timed_operation(unsigned id) {
    const std::int64_t asked = Native::now();
    Work work{&work_};
    combining_.apply(nodes_[id], work);
    const std::int64_t waited = Native::now() - asked;
    work_.outside();
    return waited;
  }

  void finish(unsigned) {}
  std::vector<std::int64_t>& handovers() { return none_; }

 private:
  CriticalWork work_;
  C combining_;
  std::deque<typename C::node> nodes_;
  std::vector<std::int64_t> none_;
};

// Thread 0 consumes; only producers' operations are counted, and the last of them tells the consumer to stop.
template <class Q>
class QueueBench {
 public:
  QueueBench(const Setting& s) : threads_(s.threads), supplies_(s.threads), stamps_(ring) {
    handovers_.reserve(200'000);
  }

  void operation(unsigned id) { step(id); }

  std::int64_t timed_operation(unsigned id) {
    const std::int64_t begin = Native::now();
    timed_ = true;
    step(id);
    return id == 0 ? 0 : Native::now() - begin;
  }

  // The end of a thread's run: producers report it, the consumer empties the queue until all have.
  void finish(unsigned id) {
    if (id != 0) {
      done_.fetch_add(1);
      return;
    }
    while (done_.load() != threads_ - 1) consume();
  }

  std::vector<std::int64_t>& handovers() { return handovers_; }
  static constexpr bool counts(unsigned id) { return id != 0; }

 private:
  static constexpr std::uint32_t ring = 1U << 16;

  void step(unsigned id) {
    if (id == 0) {
      consume();
      return;
    }
    const std::uint32_t ticket = timed_ ? next_.fetch_add(1, std::memory_order_relaxed) % ring : 0;
    const std::uint32_t item = (id - 1) << test::producer_shift | ticket;
    for (;;) {
      if (timed_) stamps_[ticket].store(Native::now(), std::memory_order_relaxed);
      if (queue_.enqueue(supplies_[id - 1], item) || done_.load(std::memory_order_relaxed) != 0) return;
      Native::yield();
    }
  }

  void consume() {
    std::uint32_t item = 0;
    if (!queue_.dequeue(supplies_.data(), item)) {
      Native::yield();
      return;
    }
    if (timed_ && handovers_.size() < handovers_.capacity()) {
      const std::int64_t sent = stamps_[item & (ring - 1)].load(std::memory_order_relaxed);
      handovers_.push_back(Native::now() - sent);
    }
  }

  unsigned threads_;
  Q queue_;
  std::vector<typename Q::Supply> supplies_;
  std::vector<std::atomic<std::int64_t>> stamps_;
  std::vector<std::int64_t> handovers_;
  std::atomic<unsigned> done_{0};
  std::atomic<std::uint32_t> next_{0};
  std::atomic<bool> timed_{false};
};

// Two threads wake each other in turn.
template <class C>
class CounterBench {
 public:
  CounterBench(const Setting&) {
    counters_[0].counter.expect(0);
    counters_[1].counter.expect(1);
    handovers_.reserve(200'000);
  }

  void operation(unsigned id) { turn(id); }

  std::int64_t timed_operation(unsigned id) {
    const std::int64_t begin = Native::now();
    turn(id);
    if (id == 1 && handovers_.size() < handovers_.capacity()) handovers_.push_back(handover_);
    return Native::now() - begin;
  }

  // Lets the partner go.
  void finish(unsigned id) { counters_[1 - id].counter.force(); }
  std::vector<std::int64_t>& handovers() { return handovers_; }

 private:
  void turn(unsigned id) {
    counters_[id].counter.wait();
    counters_[id].counter.expect(1);
    if (id == 0) {
      signalled_ = Native::now();
    } else {
      handover_ = Native::now() - signalled_;
    }
    counters_[1 - id].counter.signal();  // from here on the partner may write again
  }

  struct alignas(platform::cache_line) Padded {
    C counter;
  };
  Padded counters_[2];
  std::int64_t signalled_ = 0;  // by thread 0
  std::int64_t handover_ = 0;   // from then until thread 1 ran
  std::vector<std::int64_t> handovers_;
};

struct Options {
  std::string only;
  std::string exactly;  // empty: all
  Timing timing;
  bool quick = false;
  bool kept = false;
  bool pinned = false;
  bool list = false;
  std::vector<unsigned> threads;  // empty: all
  int work_ns = -1;               // of the critical sections of one line; -1: all
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i != argc; ++i) {
    const std::string_view argument = argv[i];
    const std::size_t equals = std::min(argument.find('='), argument.size());
    const std::string_view key = argument.substr(0, equals);
    const std::string value(argument.substr(std::min(equals + 1, argument.size())));
    if (key == "--only") {
      options.only = value;
    } else if (key == "--exactly") {
      options.exactly = value;
    } else if (key == "--ms") {
      options.timing.milliseconds = std::atoi(value.c_str());
    } else if (key == "--runs") {
      options.timing.runs = std::atoi(value.c_str());
    } else if (key == "--work") {
      options.work_ns = std::atoi(value.c_str());
    } else if (key == "--threads") {
      for (std::size_t at = 0; at < value.size(); at = std::min(value.find(',', at), value.size() - 1) + 1) {
        options.threads.push_back(static_cast<unsigned>(std::atoi(value.c_str() + at)));
      }
    } else if (key == "--quick") {
      options.quick = true;
    } else if (key == "--kept") {
      options.kept = true;
    } else if (key == "--pinned") {
      options.pinned = true;
    } else if (key == "--list") {
      options.list = true;
    } else {
      std::fprintf(stderr, "unknown option: %s\n", argv[i]);
      std::exit(2);
    }
  }
  return options;
}

class Table {
 public:
  explicit Table(const Options& options) : options_(options) {
    if (options.list) return;
    std::puts(options.kept
                  ? "kind,name,few,many,pinned,work_ns,lines,kept,kept_min,kept_max,ops_few,ops_many"
                  : "kind,name,threads,pinned,work_ns,lines,ops,ops_min,ops_max,jain,handover_ns,longest_wait_us");
  }

  template <class Bench>
  void rows(const char* kind, std::string_view name, std::vector<unsigned> threads, std::vector<Setting> sections) {
    const std::string full = std::string(kind) + "/" + std::string(name);
    if (full.find(options_.only) == std::string::npos || (!options_.exactly.empty() && full != options_.exactly))
      return;
    if (options_.list) {
      std::puts(full.c_str());
      return;
    }
    if (!options_.threads.empty()) {
      const unsigned least = threads.front();
      const unsigned most = threads.size() == 1 ? least : ~0U;  // an algorithm for two threads only
      threads = options_.threads;
      std::erase_if(threads, [&](unsigned n) { return n < least || n > most; });
    }
    if (options_.quick && !threads.empty()) {
      threads = {threads.back()};
      sections = {sections.front()};
    }
    for (const Setting& section : sections) {
      if (options_.work_ns >= 0 && (section.work_ns != static_cast<unsigned>(options_.work_ns) || section.lines != 1)) {
        continue;
      }
      for (const bool pinned : {true, false}) {
        if (options_.pinned && !pinned) continue;
        const auto with = [&](unsigned n) { return Setting{n, pinned, section.work_ns, section.lines}; };
        if (options_.kept) {
          if (!threads.empty()) kept<Bench>(kind, name, with(threads.front()), with(threads.back()));
          continue;
        }
        for (const unsigned n : threads) row<Bench>(kind, name, with(n));
      }
    }
  }

 private:
  template <class Bench>
  void row(const char* kind, std::string_view name, const Setting& s) {
    const Result r = measure<Bench>(s, options_.timing);
    std::printf("%s,%.*s,%u,%d,%u,%u,%.0f,%.0f,%.0f,%.3f,%.0f,%.1f\n", kind, static_cast<int>(name.size()), name.data(),
                s.threads, s.pinned ? 1 : 0, s.work_ns, s.lines, r.ops, r.ops_min, r.ops_max, r.jain, r.handover_ns,
                r.longest_wait_us);
    std::fflush(stdout);
  }

  template <class Bench>
  void kept(const char* kind, std::string_view name, const Setting& few, const Setting& many) {
    const Kept k = compare<Bench>(few, many, options_.timing);
    std::printf("%s,%.*s,%u,%u,%d,%u,%u,%.3f,%.3f,%.3f,%.0f,%.0f\n", kind, static_cast<int>(name.size()), name.data(),
                few.threads, many.threads, few.pinned ? 1 : 0, few.work_ns, few.lines, k.ratio, k.least, k.greatest,
                k.few, k.many);
    std::fflush(stdout);
  }

  const Options& options_;
};

void run(const Options& options) {
  const std::vector<unsigned> crews{1, 2, 4, 8, 16, 32, 64};
  const std::vector<unsigned> queue_crews{2, 4, 8, 16, 32, 64};
  const std::vector<Setting> sections{{.work_ns = 0, .lines = 1},
                                      {.work_ns = 100, .lines = 1},
                                      {.work_ns = 1000, .lines = 1},
                                      {.work_ns = 0, .lines = 64}};
  const std::vector<Setting> plain{{.work_ns = 0, .lines = 1}};
  Table table(options);
  test::Locks<Native>::for_each(
      [&]<class C>(C) { table.rows<LockBench<typename C::type>>("lock", C::name, crews, sections); });
  table.rows<CombiningBench<sync::DsmSynch<Native, Work, RunWork>>>("combining", "dsm-synch", crews, sections);
  table.rows<CombiningBench<sync::CcSynch<Native, Work, RunWork>>>("combining", "cc-synch", crews, sections);
  test::BenchedQueues<Native>::for_each(
      [&]<class C>(C) { table.rows<QueueBench<typename C::type>>("queue", C::name, queue_crews, plain); });
  test::BenchedPairQueues<Native>::for_each(
      [&]<class C>(C) { table.rows<QueueBench<typename C::type>>("queue", C::name, {2}, plain); });
  table.rows<CounterBench<sync::UserCounter<Native>>>("counter", "user", {2}, plain);
  table.rows<CounterBench<sync::KernelCounter<Native>>>("counter", "kernel", {2}, plain);
  table.rows<CounterBench<sync::CompetitiveCounter<Native>>>("counter", "competitive", {2}, plain);
}

}  // namespace
}  // namespace heddle::bench

int main(int argc, char** argv) { heddle::bench::run(heddle::bench::parse(argc, argv)); }
