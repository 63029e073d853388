#include "launch/boot/standstill/thread_report.hpp"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <tuple>
#include <utility>

#include "base/functions.hpp"  // data: a rank that hangs can't be asked
#include "launch/boot/number_ranges.hpp"
#include "launch/boot/standstill/wait_text.hpp"

namespace heddle::boot {
namespace {

constexpr useconds_t between_polls = 20'000;  // microseconds
constexpr std::size_t most_lines = 100;
constexpr int most_outside = 16;  // ranks outside MPI with a line of their own each
constexpr std::int64_t second = 1'000'000'000;

std::int64_t now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return std::int64_t{t.tv_sec} * second + t.tv_nsec;
}

std::string count(int n, const std::string& noun) { return std::to_string(n) + ' ' + noun + (n == 1 ? "" : "s"); }

std::string host_name() {
  char name[65] = "";  // POSIX: at most 64 and a null, which gethostname may leave out
  (void)gethostname(name, sizeof name - 1);
  return name;
}

// ", running": the kernel's state of the process.
std::string state_text(int process) {
  char text[512] = "";
  const int file = open(("/proc/" + std::to_string(process) + "/stat").c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return "";
  (void)!read(file, text, sizeof text - 1);
  close(file);
  const char* const name_end = std::strrchr(text, ')');
  switch (name_end != nullptr && name_end[1] == ' ' ? name_end[2] : '?') {
    case 'R':
      return ", running";
    case 'S':
    case 'D':
      return ", blocked";
    case 'T':
    case 't':
      return ", stopped";
    default:
      return "";
  }
}

// In the order of their display.
enum class Kind { waits, in_call, note, outside, uninitialized, finalized };

struct Line {
  Kind kind;
  std::string what;
  std::string suffix;  // behind how long
  bool user_level = false;
  auto key() const { return std::tie(kind, what, suffix, user_level); }
  bool operator<(const Line& other) const { return key() < other.key(); }
};

struct Group {
  std::vector<int> ranks;
  int threads = 0;
  std::uint32_t thread = 0;  // the last one
  std::int64_t first = 0;    // the start of the longest wait
  std::int64_t last = 0;
};

class Report {
 public:
  explicit Report(const RanksView& view) : view_(view), calls_(static_cast<std::size_t>(view.ranks())) {}

  void look_first(int rank) {
    const RankRecord& record = view_.records[rank];
    if (record.state.load() != RankState::inited) return;
    Calls& calls = calls_[static_cast<std::size_t>(rank)];
    for (std::size_t i = 0; i < calls.size(); ++i) calls[i] = record.threads[i].calls.load();
  }

  void look(int rank) {
    const RankRecord& record = view_.records[rank];
    switch (record.state.load()) {
      case RankState::not_started:
      case RankState::running:
        return outside_.push_back({rank, 0, "MPI is not initialized"});
      case RankState::finalized:
        return add({Kind::finalized, "MPI is finalized", "", false}, rank);
      case RankState::aborted:
      case RankState::exited:
        return;
      case RankState::inited:
        break;
    }
    Seen seen;
    look_at_waits(rank, record, seen);
    look_at_threads(rank, record, seen);
    look_at_suspended(rank, record, seen);
    if (const auto more = static_cast<int>(record.waits_without_slot.load()); more > 0)
      add({Kind::note, "of its waiting threads " + std::to_string(more) + " are listed without the cause of their wait",
           "", false},
          rank);
  }

  std::string text() {
    const bool each = static_cast<int>(outside_.size()) <= most_outside;
    for (const Outside& one : outside_) {
      const Kind kind = one.threads == 0 ? Kind::uninitialized : Kind::outside;
      add({kind, one.what, each ? process_text(one.rank) : "", false}, one.rank, one.threads);
    }
    std::vector<std::pair<Line, Group>> sorted(groups_.begin(), groups_.end());
    // The longest wait comes first: the others may depend on it.
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
      return std::pair(a.first.kind, a.second.first) < std::pair(b.first.kind, b.second.first);
    });
    std::string text;
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      if (i == most_lines) return text + "\n  and " + count(static_cast<int>(sorted.size() - i), "line") + " more";
      text += "\n  " + line(sorted[i].first, sorted[i].second);
    }
    return text;
  }

 private:
  using Calls = std::array<std::uint64_t, thread_records>;

  struct Outside {
    int rank;
    int threads;  // 0: MPI is not initialized
    const char* what;
  };

  // ", process 4711 on node3, running"
  std::string process_text(int rank) const {
    const int joined = view_.records[rank].pid.load();
    const int process = joined > 0 ? joined : view_.processes[static_cast<std::size_t>(rank)];
    return ", process " + std::to_string(process) + (view_.names_host ? " on " + host_name() : "") +
           state_text(process);
  }

  // Contents of the slots for threads that the other records name too.
  struct Seen {
    std::vector<std::uint32_t> threads;       // of the kernel
    std::map<std::uint16_t, int> user_level;  // by call
  };

  void look_at_waits(int rank, const RankRecord& record, Seen& seen) {
    const int used = std::min<int>(static_cast<int>(record.slots_used.load()), wait_slots);
    for (int i = 0; i < used; ++i) {
      Wait wait;
      const std::uint32_t thread = record.waits[i].read(wait);
      if (thread == 0) continue;
      if (wait.user_level)
        ++seen.user_level[wait.call];
      else
        seen.threads.push_back(thread);
      const WaitText words = wait_text(view_, rank, wait);
      add({Kind::waits, words.what, words.suffix, wait.user_level}, rank, 1, thread, wait.since);
    }
  }

  void look_at_threads(int rank, const RankRecord& record, const Seen& seen) {
    int outside = 0;
    bool in_call = false;
    for (std::size_t i = 0; i < thread_records; ++i) {
      const std::uint32_t thread = record.threads[i].owner.load();
      if (thread == 0 || std::count(seen.threads.begin(), seen.threads.end(), thread) != 0) continue;
      const std::uint64_t before = calls_[static_cast<std::size_t>(rank)][i];
      const std::uint64_t calls = record.threads[i].calls.load();
      const std::uint16_t call = call_of(calls) != 0 ? call_of(calls) : before != calls ? call_of(before) : 0;
      if (call == 0) {
        ++outside;
      } else {
        in_call = true;
        add({Kind::in_call, name(Function{call}), before != calls ? " again and again" : "", false}, rank, 1, thread);
      }
    }
    const auto unknown = static_cast<int>(record.threads_without_record.load());
    if (unknown > 0) add({Kind::note, count(unknown, "more thread") + " that used MPI", "", false}, rank);
    const bool all_are = seen.threads.empty() && seen.user_level.empty() && !in_call;
    // A thread without a call since MPI_Init has no record.
    if (all_are && record.user_level.load() == 0)
      outside_.push_back({rank, std::max(outside, 1), "outside MPI"});
    else if (outside > 0)
      add({Kind::outside, "outside MPI", "", false}, rank, outside);
  }

  void look_at_suspended(int rank, const RankRecord& record, Seen& seen) {
    if (record.user_level.load() == 0) return;
    for (std::uint16_t call = 0; call < calls_shown; ++call) {
      const int more = suspended_now(record.suspended[call].load()) - seen.user_level[call];
      if (more > 0) add({Kind::in_call, name(Function{call}), ", suspended", true}, rank, more);
    }
  }

  void add(const Line& line, int rank, int threads = 0, std::uint32_t thread = 0, std::int64_t since = 0) {
    Group& group = groups_[line];
    if (group.ranks.empty() || group.ranks.back() != rank) group.ranks.push_back(rank);
    group.threads += threads;
    group.thread = thread;
    if (since == 0) return;
    group.first = group.first == 0 ? since : std::min(group.first, since);
    group.last = std::max(group.last, since);
  }

  std::string line(const Line& line, const Group& group) const {
    const std::string ranks = (group.ranks.size() == 1 ? "rank " : "ranks ") + number_ranges(numbers(group.ranks));
    const std::string noun = line.user_level ? "user-level thread" : "thread";
    if (line.kind == Kind::outside) return ranks + ": " + count(group.threads, noun) + ' ' + line.what + line.suffix;
    std::string who = ranks;
    if (group.threads == 1 && !line.user_level)
      who += ", thread " + std::to_string(group.thread);
    else if (group.threads > 0)
      who += ", " + count(group.threads, noun);
    return who + ": " + line.what + how_long(group) + line.suffix;
  }

  std::vector<int> numbers(std::vector<int> ranks) const {
    for (int& rank : ranks) rank = view_.number(rank);
    return ranks;
  }

  std::string how_long(const Group& group) const {
    if (group.first == 0) return "";
    const auto most = std::max<std::int64_t>(0, (now_ - group.first) / second);
    const auto least = std::max<std::int64_t>(0, (now_ - group.last) / second);
    return ", " + (least < most ? std::to_string(least) + '-' : "") + std::to_string(most) + " s";
  }

  const RanksView& view_;
  const std::int64_t now_ = now();
  std::vector<Calls> calls_;  // in the first sample
  std::map<Line, Group> groups_;
  std::vector<Outside> outside_;  // ranks without a thread in MPI
};

}  // namespace

std::string where_threads_are(const RanksView& view) {
  Report report(view);
  const auto of_living = [&](auto&& look) {
    for (int rank = 0; rank < view.ranks(); ++rank)
      if (view.processes[static_cast<std::size_t>(rank)] != 0) look(rank);
  };
  of_living([&](int rank) { report.look_first(rank); });
  usleep(between_polls);
  of_living([&](int rank) { report.look(rank); });
  return report.text();
}

}  // namespace heddle::boot
