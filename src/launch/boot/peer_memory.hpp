// Memory of the job's other processes, which the kernel copies for us (process_vm_readv and _writev).
//
// The job's segment gives the address space of each rank: ranks with the same `host` are threads of one process, and no
// others are (join.cpp ensures it). A process id does not show it: in a pid namespace of its own every rank may be
// process 1, and a peer's id there may name a foreign process here. So each process keeps a random key in its memory
// and publishes its address in the segment; before we first move data of a peer, we have read its key through the
// kernel, and written beside it. Where that fails, the result is an errno, or that the id is another process's, and
// data go through the segment.
//
// A child of fork has no key: it is another process, though with the same memory.
//
// The memory of the node (windows, MPI_Alloc_mem) is mapped by all its ranks. Where a process has placed large blocks
// of its heap in a file of memory (mpiexec -shared-heap, shared_heap/), its peers map that file, and then move data
// themselves.
//
// Any thread may call.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "launch/boot/world.hpp"

namespace heddle::boot {

enum class Direction : bool { read, write };

// Moves data between these ranges of our memory and of that of another process, as many bytes as both lists hold at
// most, and a part if all is not possible: bytes, or -1 with errno.
inline ssize_t move_between(Direction direction, pid_t process, const iovec* ours, std::size_t n, const iovec* theirs,
                            std::size_t m) {
  return (direction == Direction::read ? process_vm_readv : process_vm_writev)(process, ours, n, theirs, m, 0);
}
// n bytes; 0 or an errno.
int move_bytes(Direction direction, pid_t process, void* ours, std::uint64_t theirs, std::size_t n);

inline constexpr pid_t this_process = 0;  // a number for moves inside this process: the kernel is not needed

// A result beside 0 and errno: the process with the peer's number is not the peer.
inline constexpr int another_process = 4096;
// The text for the user about such a result.
const char* reason_text(int reason, char (&buffer)[128]);

class PeerMemory {
 public:
  // For a rank that has joined; does not read the others' records yet.
  void begin(const World& job);

  // True if that rank, a number among all of the job, lives in our address space.
  bool same_space(int peer) const { return job_->is_local(peer) && job_->record_of(peer).host == job_->record().host; }
  // Access to its memory: 0, an errno or another_process. It has joined. The first call finds out.
  int reason_out_of_reach(int peer);
  bool within_reach(int peer) { return same_space(peer) || reason_out_of_reach(peer) == 0; }
  // The process number for moves; this_process if that rank lives here. It is within reach.
  pid_t process_of(int peer) const { return same_space(peer) ? this_process : job_->record_of(peer).process.load(); }
  // Our address of these n bytes of another process's memory; null: only the kernel can access them. It has joined, and
  // is of this node.
  std::byte* see(int peer, std::uint64_t address, std::size_t n) {
    const RankRecord& record = job_->record_of(peer);
    const std::uint64_t into = address - record.memory_address.load(std::memory_order_relaxed);
    if (const std::span<std::byte> all = job_->heap(); into < all.size() && n <= all.size() - into)
      return same_space(peer) || !job_->memory().reach(all.data() + into, n) ? nullptr : all.data() + into;
    const std::uint64_t start = record.heap_address.load(std::memory_order_relaxed);
    return start == 0 || address < start ? nullptr : see_in_heap(peer, address - start, n);
  }
  // True if this memory of ours may be mapped by peers.
  bool shows(const void* address) const {
    const auto at = reinterpret_cast<std::uint64_t>(address);
    const RankRecord& record = job_->record();
    const std::uint64_t start = record.heap_address.load(std::memory_order_relaxed);
    return at - record.memory_address.load(std::memory_order_relaxed) < job_->heap().size() ||
           (start != 0 && at >= start);
  }

 private:
  static constexpr std::int16_t unknown = -1;
  struct Mapped {
    std::byte* start = nullptr;
    std::size_t bytes = 0;  // 0: it is not available
  };

  std::byte* see_in_heap(int peer, std::uint64_t offset, std::size_t n);
  Mapped map_heap(int peer);

  const World* job_ = nullptr;
  std::unique_ptr<std::atomic<std::int16_t>[]> reasons_;  // by rank
  std::mutex mapping_;
  std::map<int, Mapped> mapped_;  // by rank: our mapping of its heap
};

// Publishes the address of a process's key, and permits accesses. Once for each of its ranks, which joins.
void publish_key(RankRecord& record);
// True if the record's key is in this process.
bool is_key_here(const RankRecord& record);

}  // namespace heddle::boot
