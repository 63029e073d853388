#include "launch/boot/memfd/memfd_world.hpp"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "launch/boot/card.hpp"
#include "launch/boot/join.hpp"
#include "launch/boot/launcher_socket.hpp"
#include "launch/boot/peer_memory.hpp"

namespace heddle::boot {

namespace {

// The whole text as a number that is not negative; -1: malformed.
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

// From mpiexec, whose process has it as long as the job runs.
struct Inherited {
  int fd;
  int launcher;
};
std::string path_of(const Inherited& inherited) {
  return "/proc/" + std::to_string(inherited.launcher) + "/fd/" + std::to_string(inherited.fd);
}

// A descriptor of the job's segment, close-on-exec. Usually it is inherited; if a wrapper (Python's subprocess, for
// example) has closed it, it is still there among the open files of mpiexec.
int open_segment(const Inherited& inherited) {
  if (holds_job(inherited.fd, inherited.launcher)) {
    fcntl(inherited.fd, F_SETFD, FD_CLOEXEC);
    return inherited.fd;
  }
  const int fd = open(path_of(inherited).c_str(), O_RDWR | O_CLOEXEC);
  if (fd >= 0 && holds_job(fd, inherited.launcher)) return fd;
  if (fd >= 0) close(fd);
  return -1;
}

// The segment, once for all ranks of this process, with the part before the memory of the nodes. Null, with errno: it
// cannot be mapped.
std::shared_ptr<platform::SparseMemory> map_segment(const Inherited& inherited, const JobHeader& header, int fd) {
  static std::mutex mutex;
  static std::shared_ptr<platform::SparseMemory> mapped;
  const std::lock_guard guard(mutex);
  if (mapped) {
    if (fd != inherited.fd) close(fd);
    return mapped;
  }
  auto made = platform::SparseMemory::make(header.segment_bytes, fd, path_of(inherited));
  if (made && made->reach(made->start(), header.heap_offset)) mapped = std::move(made);
  return mapped;
}

// True if this process is the host of the ranks that the segment describes as its threads.
bool shares_memory_with_host(const World& job) {
  std::int32_t first = 0;
  if (job.record_of(job.record().host).first_of_host.compare_exchange_strong(first, job.rank() + 1)) return true;
  return is_key_here(job.record_of(first - 1));
}

}  // namespace

Result<std::unique_ptr<World>> MemfdWorld::join(const char* descriptor) {
  const int inherited = number_in(descriptor);
  const int launcher = number_in(getenv(launcher_variable));
  const int rank = number_in(getenv(rank_variable));
  if (inherited < 0 || launcher <= 0 || rank < 0) {
    return refuse("%s=%s, %s=%s, %s=%s do not name a job: only mpiexec sets these variables. Unset them",
                  job_fd_variable, descriptor, launcher_variable,
                  getenv(launcher_variable) != nullptr ? getenv(launcher_variable) : "(unset)", rank_variable,
                  getenv(rank_variable) != nullptr ? getenv(rank_variable) : "(unset)");
  }
  const int fd = open_segment({inherited, launcher});
  if (fd < 0) {
    return refuse(
        "the environment says rank %d of a job started by mpiexec (pid %d), but descriptor %d does not hold "
        "that job and mpiexec's own cannot be opened: %s",
        rank, launcher, inherited, std::strerror(errno));
  }
  JobHeader header;
  if (pread(fd, &header, sizeof header, 0) != sizeof header || header.layout != job_layout) {
    return refuse("mpiexec is of another version of Heddle than this library (segment layout %u, not %u)",
                  header.layout, job_layout);
  }
  if (rank >= ranks_so_far(header)) {
    return refuse("%s=%d, but the job has %d ranks", rank_variable, rank, ranks_so_far(header));
  }
  std::shared_ptr<platform::SparseMemory> segment = map_segment({inherited, launcher}, header, fd);
  if (!segment) {
    return refuse("cannot map the job's segment of %llu MiB: %s (a limit on address space, ulimit -v?)",
                  static_cast<unsigned long long>(header.segment_bytes >> 20), std::strerror(errno));
  }
  std::unique_ptr<MemfdWorld> joined(new MemfdWorld(std::move(segment), rank));
  World& job = *joined;
  RankState expected = RankState::running;
  if (!job.record().state.compare_exchange_strong(expected, RankState::inited)) {
    const int owner = job.record().pid.load();
    return refuse("rank %d of the job was already taken by process %d; a rank is one MPI program", rank, owner);
  }
  job.record().pid.store(getpid());
  if (job.capacity() > 1) publish_key(job.record());
  if (job.capacity() > 1 && !shares_memory_with_host(job)) {
    return refuse(
        "rank %d is a thread of the process of rank %d, but this is another process (a child of fork?), which "
        "cannot take its place; start the job with --ranks processes",
        rank, job.record().host);
  }
  unsetenv(job_fd_variable);
  return joined;
}

std::uint64_t MemfdWorld::agreed(int word) const { return header().agreed[word].load(std::memory_order_relaxed); }
std::uint64_t MemfdWorld::agree(int word, std::uint64_t proposal) {
  std::atomic<std::uint64_t>& there = header().agreed[word];
  if (nodes_here(header()) == nodes()) return first_proposal(there, proposal);
  // The process that started the mpiexec of each node receives all proposals, and the value comes back into the
  // segment. If it does not, the job ends, and we with it.
  if (agreed(word) == 0) tell_launcher(Frame(FrameKind::agree).add(word).add(proposal).add(rank()));
  while (agreed(word) == 0) usleep(50);
  return agreed(word);
}

// In a job on several nodes, each of which has an mpiexec of its own.
void MemfdWorld::tell_launcher(const Frame& frame) {
  const Result<std::string> answer = ask_launcher(frame.encode());
  if (!answer) boot::abort(this, 1, answer.failure().text.c_str());
}

Result<std::string> MemfdWorld::ask_launcher(const std::string& request) {
  if (capacity() == header().size && !(survives_failures() && nodes() > 1))
    return refuse(
        "this job has no room for more ranks: it simulates several nodes (HEDDLE_NODES), or survives failures "
        "(mpiexec -with-ft), or addresses are scarce here (ulimit -v, ulimit -f, vm.overcommit_memory=2)");
  return ask({header().launcher, header().key}, request);
}

// mpiexec writes the text.
void MemfdWorld::abort(int code, const char* text) {
  std::int32_t unset = 0;
  if (!record().abort_code.compare_exchange_strong(unset, exit_code(code))) {
    while (true) pause();  // another thread was first: its reason stands, and it is about to end the process
  }
  std::snprintf(record().abort_text, sizeof record().abort_text, "%s", text);
  record().state.store(RankState::aborted);
  // mpiexec learns it from our end, unless a wrapper script is our parent; so it is also signaled.
  kill(header().launcher, abort_signal());
  _exit(exit_code(code));
}

std::span<const std::byte> MemfdWorld::find(int peer, int vni) const { return find_entry(cards(&header())[peer], vni); }
bool MemfdWorld::publish(int vni, std::span<const std::byte> address) {
  const std::lock_guard guard(mutex_);
  if (!add_entry(cards(&header())[rank()], vni, address)) return false;
  if (nodes_here(header()) != nodes()) tell_launcher(Frame(FrameKind::published).add(rank()));
  return true;
}

}  // namespace heddle::boot
