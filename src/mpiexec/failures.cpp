#include "mpiexec/failures.hpp"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <system_error>

namespace heddle::mpiexec {

Failures::Failures(const Segment& segment) : segment_(segment) {
  boot::JobHeader& job = *segment.header;
  boot::failure_log(&job).asked = 1;
  const std::size_t bells = job.heap_offset + node::offset_of_bells(job.heap_bytes);
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t before = bells % page;
  const std::size_t bytes = before + static_cast<std::size_t>(job.capacity) * sizeof(node::Bell);
  void* const base =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, segment.fd, static_cast<off_t>(bells - before));
  if (base == MAP_FAILED)
    throw std::system_error(errno, std::generic_category(), "cannot map the doorbells of the job's ranks");
  bells_ = reinterpret_cast<node::Bell*>(static_cast<std::byte*>(base) + before);
}

// What the rank itself has started goes with it; it must not write on in its name.
void Failures::lost(int rank, pid_t started) {
  kill(-started, SIGKILL);
  const pid_t joined = segment_.records[rank].pid.load();
  if (joined > 0 && joined != started) kill(joined, SIGKILL);
  dying_.push_back({rank, joined != started ? joined : 0});
}

bool Failures::tell() {
  std::erase_if(dying_, [this](const Dying& one) {
    if (one.process > 0 && (kill(one.process, 0) == 0 || errno != ESRCH)) return false;
    append(one.rank);
    return true;
  });
  return !dying_.empty();
}

void Failures::append(int rank) {
  boot::FailureLog& log = boot::failure_log(segment_.header);
  boot::FailureEntry* const entries = boot::failure_entries(segment_.header);
  const std::uint32_t i = log.failures.load(std::memory_order_relaxed);
  entries[i].rank.store(rank, std::memory_order_relaxed);
  log.failures.store(i + 1, std::memory_order_release);
  entries[rank].position.store(i + 1, std::memory_order_release);  // whoever knows that it is gone finds it in the log
  log.trouble.fetch_add(1, std::memory_order_seq_cst);
  for (int other = 0; other < segment_.header->capacity; ++other) bells_[other].doorbell.ring();
}

}  // namespace heddle::mpiexec
