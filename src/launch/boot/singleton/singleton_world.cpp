#include "launch/boot/singleton/singleton_world.hpp"

#include <errno.h>
#include <unistd.h>

#include <cstring>

#include "launch/boot/card.hpp"
#include "launch/boot/cores.hpp"
#include "launch/boot/join.hpp"
#include "launch/boot/random_number.hpp"
#include "launch/boot/wake_up.hpp"

namespace heddle::boot {

Result<std::unique_ptr<World>> SingletonWorld::make(std::size_t heap_bytes) {
  const std::size_t bytes = heap_offset(1, 1) + heap_bytes;
  const std::shared_ptr<platform::SparseMemory> segment = platform::SparseMemory::make(bytes);
  if (!segment || !segment->reach(segment->start(), heap_offset(1, 1)))
    return refuse("cannot map %zu MiB: %s (a limit on address space, ulimit -v?)", bytes >> 20, std::strerror(errno));
  auto* header = reinterpret_cast<JobHeader*>(segment->start());
  header->magic = job_magic;
  header->layout = job_layout;
  header->size = 1;
  header->local_ranks = 1;
  header->nodes = 1;
  header->capacity = 1;
  header->key = random_number();
  header->usable_cores = boot::usable_cores();
  header->wake_up = measure_wake_up();
  header->heap_offset = heap_offset(1, 1);
  header->heap_bytes = heap_bytes;
  header->segment_bytes = bytes;
  first_ranks(header)[1] = 1;
  RankRecord& record = rank_records(header)[0];
  record.app_ranks = 1;
  record.cores = header->usable_cores;
  record.pid.store(getpid());
  record.state.store(RankState::inited);
  return std::unique_ptr<World>(new SingletonWorld(segment));
}

std::uint64_t SingletonWorld::agree(int word, std::uint64_t proposal) {
  return first_proposal(agreed_[word], proposal);
}

Result<std::string> SingletonWorld::ask_launcher(const std::string&) {
  return refuse("this program was started without mpiexec, which starts spawned processes. Start it with mpiexec -n 1");
}

void SingletonWorld::abort(int code, const char* text) { end_process(code, text); }

}  // namespace heddle::boot
