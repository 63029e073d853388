#include "launch/boot/launched/start_watch.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <system_error>
#include <utility>

#include "base/threads/signals_blocked.hpp"
#include "launch/boot/join.hpp"
#include "launch/boot/launched/job_text.hpp"
#include "launch/boot/launched/quit_signal.hpp"
#include "launch/boot/launched/rank_processes.hpp"
#include "launch/boot/number_ranges.hpp"

namespace heddle::boot {
namespace {

// Milliseconds. A launcher has started all ranks of a node long before we report.
constexpr std::int64_t between_polls = 1'000;
constexpr std::int64_t time_before_report = 5'000;
constexpr std::int64_t time_of_other_nodes = 10'000;  // in which another node reports its missing ranks
constexpr std::int64_t time_of_launcher = 1'000;      // in which it ends us

struct Name {
  sockaddr_un address{};
  socklen_t bytes = 0;

  Name(const std::string& job, int rank) {
    address.sun_family = AF_UNIX;  // sun_path begins with a null: an abstract name, outside of file systems
    const int length = std::snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "heddle-come-%u-%016zx-%d",
                                     getuid(), std::hash<std::string>()(job), rank);
    bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<std::size_t>(length));
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

Descriptor local_socket() { return Descriptor(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)); }

std::string ranks_text(const std::vector<int>& ranks) {
  return (ranks.size() == 1 ? "rank " : "ranks ") + number_ranges(ranks);
}
const char* have(const std::vector<int>& ranks) { return ranks.size() == 1 ? " has" : " have"; }

}  // namespace

StartWatch::StartWatch(Wireup& wireup, std::vector<int> local)
    : wireup_(wireup),
      local_(local.empty() ? std::vector{wireup.rank()} : std::move(local)),
      name_(local_socket()),
      stop_(eventfd(0, EFD_CLOEXEC)),
      quit_(note_quit_signal()) {
  const Name name(wireup_.job_name(), wireup_.rank());
  (void)bind(name_.get(), name.get(), name.bytes);
  try {
    const threads::SignalsBlocked blocked;
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {  // then there is no report
  }
}

StartWatch::~StartWatch() {
  if (!thread_.joinable()) return;
  (void)eventfd_write(stop_.get(), 1);
  thread_.join();
}

void StartWatch::run() {
  const std::int64_t begin = milliseconds_now();
  std::int64_t next_poll = begin + between_polls, next_answer = begin;
  std::vector<int> gone;
  bool said = false;
  while (true) {
    pollfd events[] = {{.fd = stop_.get(), .events = POLLIN, .revents = 0},
                       {.fd = name_.get(), .events = POLLIN, .revents = 0},
                       {.fd = quit_, .events = POLLIN, .revents = 0}};
    (void)poll(events, std::size(events), static_cast<int>(std::max<std::int64_t>(0, next_poll - milliseconds_now())));
    if (events[0].revents != 0) return;
    if (took_quit_signal(quit_)) pass_on_quit();
    const std::int64_t now = milliseconds_now();
    char byte = 0;
    bool asked = false;
    while (recv(name_.get(), &byte, sizeof byte, 0) >= 0) asked = true;
    if (asked && now >= next_answer) {
      next_answer = now + between_polls;
      write_line(("heddle: got SIGQUIT, and goes on; " + waits(now - begin)).c_str());
    }
    if (now < next_poll) continue;
    next_poll = now + between_polls;
    if (is_left_to_lower_rank()) continue;
    const std::vector<int> absent = missing();
    const std::vector<int> before = std::exchange(gone, without_process(wireup_.rank(), absent));
    if (now - begin < time_before_report) continue;
    if (!gone.empty() && gone == before) end(gone);
    // Rank 0 also reports for nodes without any rank present.
    const bool speaks = !absent.empty() || (wireup_.rank() == 0 && now - begin >= time_of_other_nodes);
    if (speaks && !std::exchange(said, true)) write_line(("heddle: " + waits(now - begin)).c_str());
  }
}

bool StartWatch::has_come(int rank) const {
  const Descriptor probe = local_socket();
  const Name name(wireup_.job_name(), rank);
  return rank == wireup_.rank() || connect(probe.get(), name.get(), name.bytes) == 0;
}

std::vector<int> StartWatch::missing() const {
  std::vector<int> ranks;
  for (const int rank : local_)
    if (!has_come(rank)) ranks.push_back(rank);
  return ranks;
}

bool StartWatch::is_left_to_lower_rank() const {
  return *std::ranges::find_if(local_, [this](int rank) { return has_come(rank); }) < wireup_.rank();
}

// To the lowest rank that has come, perhaps this one: a signal may have been sent to all.
void StartWatch::pass_on_quit() const {
  for (const int rank : local_) {
    const Name name(wireup_.job_name(), rank);
    if (sendto(local_socket().get(), "", 1, 0, name.get(), name.bytes) == 1) return;
  }
}

std::string StartWatch::waits(std::int64_t milliseconds) const {
  const std::vector<int> absent = missing();
  return "rank " + std::to_string(wireup_.rank()) + " has waited " + std::to_string(milliseconds / 1000) +
         " s for every process of the job to initialize MPI" +
         (local_.size() == 1 ? ""
          : absent.empty()   ? "; all on " + own_host() + " have"
                             : "; " + ranks_text(absent) + " on " + own_host() + have(absent) + " not");
}

void StartWatch::end(const std::vector<int>& gone) {
  const std::string text = "heddle: " + ranks_text(gone) + " on " + own_host() + have(gone) +
                           " ended without MPI_Init, which others wait in; the job ends";
  write_line(text.c_str());
  let_launcher_pass_on();
  wireup_.abort(1, text.c_str());
  usleep(time_of_launcher * 1000);
  _exit(1);
}

}  // namespace heddle::boot
