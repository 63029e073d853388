// The job from the view of one of its ranks: the placement of ranks, and the data exchanged outside of messages. Each
// way to start a job has a World (memfd/: mpiexec; launched/: another launcher; singleton/: none). Layers above know
// this file alone.
//
// Under every World the ranks of a node share a segment: a record of each rank, and the memory of the node (job.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "base/platform/sparse_memory.hpp"
#include "base/result.hpp"
#include "launch/boot/job.hpp"
#include "launch/boot/process_set.hpp"
#include "network/directory.hpp"

namespace heddle::boot {

class World : public lln::Directory {
 public:
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  int rank() const { return rank_; }
  // The size of our MPI_COMM_WORLD: all ranks that the job has begun with, or those that were spawned with us.
  int size() const { return size_; }
  int first_rank() const { return first_; }
  // The most ranks of the job, with those that are spawned later: the size of arrays indexed by rank.
  int capacity() const { return header_->capacity; }
  // The launcher's number of a rank: its rank in its MPI_COMM_WORLD. In the initial world it is the same number, unless
  // the launcher has placed ranks on the nodes round-robin; the job numbers ranks node by node.
  int rank_in_world(int rank) const {
    return is_renumbered() ? launcher_ranks(header_)[rank] : rank - records_[rank].world_first;
  }
  bool is_renumbered() const { return header_->renumbered != 0; }
  // Ranks of a node have consecutive numbers.
  int nodes() const { return header_->nodes; }
  int node_of(int rank) const;
  const lln::Secret& secret() const { return header_->secret; }
  bool is_local(int rank) const { return rank >= first_local_ && rank < first_local_ + local_ranks_; }
  int first_local() const { return first_local_; }
  int local_ranks() const { return local_ranks_; }  // with those that may be spawned
  // The number of them that the job has begun with, from which the number of channels is computed (base/node/room.hpp).
  int first_local_ranks() const { return nodes() == 1 ? header_->size : local_ranks_; }
  int channel_ranks() const { return first_local_ranks() + header_->spare_ranks; }

  // The state of this rank, or another one of its node; mpiexec and the crash report read it.
  RankRecord& record() const { return record_of(rank_); }
  RankRecord& record_of(int local) const { return records_[local]; }
  // Zero-filled, the same in every rank of the node, at a different address in each process; a part of memory(), which
  // is mapped at its first use.
  std::span<std::byte> heap() const { return heap_; }
  platform::SparseMemory& memory() const { return *segment_; }
  // The start of the memory of the segment's first node, which that of the others follows.
  std::byte* memory_of_nodes() const { return reinterpret_cast<std::byte*>(header_) + header_->heap_offset; }
  // Behind all of them: decisions between nodes (decided.hpp).
  std::byte* behind_memory() const {
    std::byte* const at = memory_of_nodes() + static_cast<std::size_t>(nodes_here(*header_)) * header_->heap_bytes;
    if (!segment_->reach(at, segment_->bytes() - static_cast<std::size_t>(at - segment_->start())))
      throw std::bad_alloc();
    return at;
  }

  // The cores for all ranks of this machine together; the number of ranks when the job began, and with those that were
  // spawned so far.
  int usable_cores() const { return header_->usable_cores; }
  int first_machine_ranks() const { return header_->local_ranks; }
  int machine_ranks() const { return header_->local_ranks + header_->spawned.load(std::memory_order_relaxed); }
  // True if the nodes are on one machine and simulated (HEDDLE_NODES).
  bool pretends_nodes() const { return nodes() > 1 && first_machine_ranks() == header_->size; }
  std::int64_t wake_up() const { return header_->wake_up; }     // nanoseconds: the cost to wake a thread
  int universe_size() const { return header_->universe_size; }  // of MPI_UNIVERSE_SIZE; 0: not set

  // The agreed value of one word, of `agreed_words`, the same for all ranks of the job; 0 until one of them has
  // proposed a value: the first proposal stands. Any thread.
  virtual std::uint64_t agreed(int word) const = 0;
  virtual std::uint64_t agree(int word, std::uint64_t proposal) = 0;

  // A random number that distinguishes this job from others.
  std::uint64_t key() const { return header_->key; }
  // Open ports and published names. Null: the ranks are on several nodes that share no memory.
  Board* board() const { return has_one_segment() ? &boot::board(header_) : nullptr; }
  // True if the job survives failed ranks (mpiexec --with-ft), and the known failures.
  bool survives_failures() const { return failures().asked != 0; }
  FailureLog& failures() const { return failure_log(header_); }
  bool is_gone(int rank) const { return failure_entries(header_)[rank].position.load(std::memory_order_acquire) != 0; }
  // In the order in which they failed: the rank, and from 1 on the position of a rank; 0: it has not.
  int failed(std::uint32_t i) const { return failure_entries(header_)[i].rank.load(std::memory_order_relaxed); }
  SharedComms& shared_comms() const { return shared_comms_of(header_); }
  // Sends the launcher a request, of the kinds that launcher_socket.hpp lists, and waits for the answer.
  virtual Result<std::string> ask_launcher(const std::string& request) = 0;

  // The launcher's sets that this rank is a member of.
  virtual std::vector<ProcessSet> process_sets() { return {}; }

  // True if a rank of this node communicates no longer.
  bool has_finished(int rank) const { return is_local(rank) && record_of(rank).state.load() > RankState::inited; }

  // The last finalization: from here on the end of this process is a successful one. enter() undoes it, for sessions
  // that come and go.
  virtual void leave() { record().state.store(RankState::finalized); }
  virtual void enter() { record().state.store(RankState::inited); }
  // For a rank that is a thread: it has ended, and its process goes on. Readers that would learn it from the end of the
  // process are notified now.
  virtual void end_in_process() {}
  // Ends the whole job with `code` as its exit code and `text` on standard error.
  [[noreturn]] virtual void abort(int code, const char* text) = 0;

 protected:
  // The part of `segment` before the memory of the nodes has been mapped. It is mapped until the process ends, since
  // calls such as MPI_Abort are allowed after finalization.
  World(std::shared_ptr<platform::SparseMemory> segment, int rank);

  JobHeader& header() const { return *header_; }

 private:
  bool has_one_segment() const { return nodes_here(*header_) == nodes(); }

  std::shared_ptr<platform::SparseMemory> segment_;
  JobHeader* header_;
  RankRecord* records_;
  int rank_;
  int size_;
  int first_;
  int first_local_;
  int local_ranks_;
  std::span<std::byte> heap_;
};

}  // namespace heddle::boot
