#include "boot/join.hpp"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "boot/cores.hpp"
#include "boot/foreign_launcher.hpp"
#include "boot/peer_memory.hpp"
#include "boot/wake_up.hpp"

namespace heddle::boot {
namespace {

[[gnu::format(printf, 2, 3)]] bool refuse(Problem& problem, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(problem.text, sizeof problem.text, format, arguments);
  va_end(arguments);
  return false;
}

// The whole text as a number that is not negative; -1: it is not one.
int number_in(const char* text) {
  if (text == nullptr || *text < '0' || *text > '9') return -1;
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  return *end == '\0' && value <= 0x7fffffff ? static_cast<int>(value) : -1;
}

bool holds_job(int fd, int launcher) {
  JobHeader header;
  return fd >= 0 && pread(fd, &header, sizeof header, 0) == sizeof header && header.magic == job_magic &&
         header.launcher == launcher;
}

// A descriptor of the job's segment, close-on-exec. Usually it came by inheritance; a wrapper (Python's
// subprocess, say) may have closed it on the way, and then it is still there among the open files of mpiexec.
int open_segment(int inherited, int launcher) {
  if (holds_job(inherited, launcher)) {
    fcntl(inherited, F_SETFD, FD_CLOEXEC);
    return inherited;
  }
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", launcher, inherited);
  const int fd = open(path, O_RDWR | O_CLOEXEC);
  if (fd >= 0 && holds_job(fd, launcher)) return fd;
  if (fd >= 0) close(fd);
  return -1;
}

// The heap is mostly addresses that nobody has touched, and a core dump would look at each page of it.
void leave_out_of_core_dumps(const Job& job) { madvise(job.heap, job.heap_bytes, MADV_DONTDUMP); }

void point_into(Job& job, void* base) {
  job.header = static_cast<JobHeader*>(base);
  job.records = rank_records(job.header);
  job.size = job.header->size;
  job.nodes = job.header->nodes;
  const int node = node_of_rank(job.rank, job.nodes, job.size);
  job.first_local = first_rank(node, job.nodes, job.size);
  job.local_ranks = first_rank(node + 1, job.nodes, job.size) - job.first_local;
  job.heap_bytes = job.header->heap_bytes;
  job.heap = static_cast<std::byte*>(base) + job.header->heap_offset + static_cast<std::size_t>(node) * job.heap_bytes;
  job.cores = job.record().cores;
  leave_out_of_core_dumps(job);
}

// The whole segment, once for all ranks of this process.
void* map_segment(int fd, const JobHeader& header) {
  static std::mutex mutex;
  static void* mapped = MAP_FAILED;
  const std::lock_guard guard(mutex);
  if (mapped == MAP_FAILED)
    mapped = mmap(nullptr, header.segment_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  return mapped;
}

// Whether this process is that of the ranks that the segment says to be threads of one.
bool shares_memory_with_host(const Job& job) {
  std::int32_t first = 0;
  if (job.records[job.record().host].first_of_host.compare_exchange_strong(first, job.rank + 1)) return true;
  return is_key_here(job.records[first - 1]);
}

bool join_launched(Job& job, const char* fd_text, Problem& problem) {
  const int inherited = number_in(fd_text);
  const int launcher = number_in(getenv(launcher_variable));
  const int rank = number_in(getenv(rank_variable));
  if (inherited < 0 || launcher <= 0 || rank < 0) {
    return refuse(problem, "%s=%s, %s=%s, %s=%s do not name a job; they are set by mpiexec and nobody else",
                  job_fd_variable, fd_text, launcher_variable,
                  getenv(launcher_variable) != nullptr ? getenv(launcher_variable) : "(unset)", rank_variable,
                  getenv(rank_variable) != nullptr ? getenv(rank_variable) : "(unset)");
  }
  const int fd = open_segment(inherited, launcher);
  if (fd < 0) {
    return refuse(problem,
                  "the environment says rank %d of a job started by mpiexec (pid %d), but descriptor %d does not hold "
                  "that job and mpiexec's own cannot be opened: %s",
                  rank, launcher, inherited, std::strerror(errno));
  }
  JobHeader header;
  if (pread(fd, &header, sizeof header, 0) != sizeof header || header.layout != job_layout) {
    return refuse(problem, "mpiexec is of another version of Heddle than this library (segment layout %u, not %u)",
                  header.layout, job_layout);
  }
  if (rank >= header.size) {
    return refuse(problem, "%s=%d, but the job has %d ranks", rank_variable, rank, header.size);
  }
  void* base = map_segment(fd, header);
  if (base == MAP_FAILED) {
    return refuse(problem, "cannot map the job's segment of %llu MiB: %s (a limit on address space, ulimit -v?)",
                  static_cast<unsigned long long>(header.segment_bytes >> 20), std::strerror(errno));
  }
  close(fd);
  job.rank = rank;
  job.singleton = false;
  point_into(job, base);
  RankState expected = RankState::running;
  if (!job.record().state.compare_exchange_strong(expected, RankState::inited)) {
    const int owner = job.record().pid.load();
    return refuse(problem, "rank %d of the job was already taken by process %d; a rank is one MPI program", rank,
                  owner);
  }
  job.record().pid.store(getpid());
  if (job.size > 1) publish_key(job.record());
  if (job.size > 1 && !shares_memory_with_host(job)) {
    return refuse(
        problem,
        "rank %d is a thread of the process of rank %d, but this is another process (a child of fork?), which "
        "cannot take its place; start the job with --ranks processes",
        rank, job.record().host);
  }
  unsetenv(job_fd_variable);
  return true;
}

bool join_alone(Job& job, std::size_t heap_bytes, Problem& problem) {
  if (refuses_singleton(problem.text, sizeof problem.text)) return false;
  const std::size_t bytes = heap_offset(1) + heap_bytes;
  void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED)
    return refuse(problem, "cannot map %zu MiB: %s (a limit on address space, ulimit -v?)", bytes >> 20,
                  std::strerror(errno));
  auto* header = static_cast<JobHeader*>(base);
  header->magic = job_magic;
  header->layout = job_layout;
  header->size = 1;
  header->local_ranks = 1;
  header->nodes = 1;
  header->usable_cores = usable_cores();
  header->wake_up = measure_wake_up();
  header->heap_offset = heap_offset(1);
  header->heap_bytes = heap_bytes;
  header->segment_bytes = bytes;
  RankRecord& record = rank_records(header)[0];
  record.app_ranks = 1;
  record.cores = header->usable_cores;
  record.pid.store(getpid());
  record.state.store(RankState::inited);
  job.rank = 0;
  job.singleton = true;
  point_into(job, base);
  return true;
}

// What the program has printed so far should be seen. Another thread may be inside stdio, or have died there:
// then its lock is not ours to wait for.
void flush_if_free(std::FILE* file) {
  if (ftrylockfile(file) != 0) return;
  fflush_unlocked(file);
  funlockfile(file);
}

void write_text(const char* text) {
  std::size_t left = std::strlen(text);
  while (left > 0) {
    const ssize_t written = write(STDERR_FILENO, text, left);
    if (written <= 0) return;
    text += written;
    left -= static_cast<std::size_t>(written);
  }
}

}  // namespace

bool join(Job& job, std::size_t singleton_heap_bytes, Problem& problem) {
  const char* fd_text = getenv(job_fd_variable);
  return fd_text != nullptr ? join_launched(job, fd_text, problem) : join_alone(job, singleton_heap_bytes, problem);
}

void leave(Job& job) { job.record().state.store(RankState::finalized); }
void enter(Job& job) { job.record().state.store(RankState::inited); }

void abort(const Job* job, int code, const char* text) {
  flush_if_free(stdout);
  flush_if_free(stderr);
  if (job == nullptr || job->singleton) {
    write_text(text);
    const std::size_t length = std::strlen(text);
    if (length > 0 && text[length - 1] != '\n') write_text("\n");
    _exit(exit_code(code));
  }
  RankRecord& record = job->record();
  std::int32_t unset = 0;
  if (!record.abort_code.compare_exchange_strong(unset, exit_code(code))) {
    while (true) pause();  // another thread was first: its reason stands, and it is about to end the process
  }
  std::snprintf(record.abort_text, sizeof record.abort_text, "%s", text);
  record.state.store(RankState::aborted);
  // mpiexec learns it from our end, unless a wrapper script stands between us; so it is also told.
  kill(job->header->launcher, abort_signal());
  _exit(exit_code(code));
}

ThreadRecord* take_thread_record(RankRecord& rank) {
  const auto self = static_cast<std::uint32_t>(gettid());
  for (ThreadRecord& record : rank.threads) {
    std::uint32_t free = 0;
    if (record.owner.load(std::memory_order_relaxed) == 0 && record.owner.compare_exchange_strong(free, self)) {
      return &record;
    }
  }
  return nullptr;
}

void give_back_thread_record(ThreadRecord& record) {
  record.calls.store(0, std::memory_order_relaxed);
  record.owner.store(0, std::memory_order_release);
}

}  // namespace heddle::boot
