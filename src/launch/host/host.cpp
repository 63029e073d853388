#include "launch/host/host.hpp"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <stdexcept>

#include "launch/host/life.hpp"
#include "launch/host/own_path.hpp"
#include "launch/host/signals.hpp"

namespace heddle::host {
namespace {

constexpr int exit_code_not_executable = 126;  // as shells say it

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what + ": " + strerror(errno)); }

int number_in_environment(const char* name) {
  const char* text = getenv(name);
  if (text == nullptr)
    throw std::runtime_error(
        "cannot run heddle-host by itself: it runs ranks as threads for mpiexec --ranks threads. A program that starts "
        "itself again finds its file by readlink(\"/proc/self/exe\") of libc, or by argv[0]");
  return atoi(text);
}

boot::HostPlan read_plan() {
  const int fd = number_in_environment(boot::host_plan_variable);
  struct stat status;
  if (fstat(fd, &status) != 0) fail("cannot read the plan of the host");
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  if (pread(fd, text.data(), text.size(), 0) != status.st_size) fail("cannot read the plan of the host");
  close(fd);
  return boot::plan_of_text(text);
}

// The records of ranks below `end`; the ranks map the rest of the segment when they join.
boot::RankRecord* map_records(int end) {
  const int fd = number_in_environment(boot::job_fd_variable);
  boot::JobHeader header;
  if (pread(fd, &header, sizeof header, 0) != sizeof header) fail("cannot read the job's segment");
  const std::size_t before = boot::heap_offset(end, header.nodes, header.renumbered != 0);
  void* base =
      mmap(nullptr, std::min<std::size_t>(before, header.heap_offset), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (base == MAP_FAILED) fail("cannot map the job's segment");
  return boot::rank_records(static_cast<boot::JobHeader*>(base));
}

// A descriptor for each copy of the program and of its libraries.
void make_room_for_descriptors() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// libc's environment and output of the process: used by shared libraries that bypass our functions.
void dress_libc(const boot::HostPlan& plan) {
  clearenv();
  for (const std::string& entry : plan.environment)
    if (!entry.starts_with(std::string(boot::job_fd_variable) + '=')) putenv(strdup(entry.c_str()));
  setvbuf(stdout, nullptr, _IOLBF, 0);  // each line goes to the descriptor of the thread that ends it
}

int run(unsigned long tls_bytes, unsigned long tls_alignment) {
  const boot::HostPlan& plan = *new boot::HostPlan(read_plan());  // threads of a rank may outlive this function
  boot::RankRecord* records = map_records(std::ranges::max(plan.ranks, {}, &boot::HostedRank::rank).rank + 1);
  make_room_for_descriptors();
  dress_libc(plan);
  const Program& program = *new Program(plan, tls_bytes, tls_alignment);
  set_own_path(plan.program);
  watch_for_deaths();
  for (const boot::HostedRank& place : plan.ranks) {
    auto& seat = *new Seat;
    seat.place = place;
    seat.record = &records[place.rank];
    if (!start_rank(seat, plan, program))
      fail("cannot make the thread of rank " + std::to_string(place.rank) +
           " (a limit on processes and threads, ulimit -u or pids.max of the cgroup, or on memory?)");
  }
  wait_for_ranks(static_cast<int>(plan.ranks.size()));
  return 0;
}

}  // namespace
}  // namespace heddle::host

[[gnu::visibility("default")]] int heddle_host_main(unsigned long tls_bytes, unsigned long tls_alignment) {
  int code = heddle::host::exit_code_not_executable;
  try {
    code = heddle::host::run(tls_bytes, tls_alignment);
  } catch (const std::exception& problem) {
    const std::string text = std::string("heddle: ") + problem.what() + '\n';
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
  }
  _exit(code);  // the host must not clean up the ranks' objects
}
