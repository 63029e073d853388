// The library's side of a job: how a rank joins it, leaves it, and ends it.
//
// Part of every rank, so it is kept lean: no iostreams, no allocation, and it touches no page of the segment
// that it does not need. Not thread-safe against itself: one thread joins a rank.
#pragma once

#include <cstddef>
#include <cstdint>

#include "boot/job.hpp"

namespace heddle::boot {

// A rank's membership. A plain value; the mapping behind it stays until the process ends, because calls such
// as MPI_Abort are allowed after finalization.
struct Job {
  int rank = 0;
  int size = 1;
  int cores = 1;          // that this rank may count on; see RankRecord::cores
  bool singleton = true;  // started without mpiexec
  JobHeader* header = nullptr;
  RankRecord* records = nullptr;  // one for each rank
  std::byte* heap = nullptr;  // the node's: zero-filled, the same memory in every rank, at a different address in each
  std::size_t heap_bytes = 0;
  int nodes = 1;
  int first_local = 0;  // rank of the node
  int local_ranks = 1;  // of the node

  RankRecord& record() const { return records[rank]; }
  // Where node 0's memory begins, and behind it that of the others.
  std::byte* memory_of_nodes() const { return reinterpret_cast<std::byte*>(header) + header->heap_offset; }
};

struct Problem {
  char text[256] = "";
};

// Joins the job that the environment names, or makes a world of one if it names none; the rank then counts as
// initialized. False: the environment names a job that cannot be joined, and `problem` says why.
// `heap_bytes` is the size of the transport's heap for a world of one; with mpiexec its size comes with the
// job.
[[nodiscard]] bool join(Job& job, std::size_t singleton_heap_bytes, Problem& problem);

// The last finalization; mpiexec then takes the end of this process for a good one. `enter` undoes it, for
// sessions that come and go.
void leave(Job& job);
void enter(Job& job);

// What all ranks of the job hold of one word, 0 until one of them has proposed a value: the first proposal stands. Any thread.
inline std::uint64_t agreed(const Job& job, int word) {
  return job.header->agreed[word].load(std::memory_order_relaxed);
}
inline std::uint64_t agree(const Job& job, int word, std::uint64_t proposal) {
  std::uint64_t standing = 0;
  return job.header->agreed[word].compare_exchange_strong(standing, proposal, std::memory_order_relaxed) ? proposal
                                                                                                         : standing;
}

// Ends the whole job (a world of one: this process) with `code` as mpiexec's exit code; mpiexec, or this
// process if there is none, writes `text` to standard error. `job` may be null: MPI is not initialized.
[[noreturn]] void abort(const Job* job, int code, const char* text);

// The number that a process can end with for an error code: its low 8 bits, but never 0, which would mean
// success.
constexpr int exit_code(int code) { return (code & 0xff) != 0 ? code & 0xff : 1; }

// A thread takes a record when it first calls MPI and gives it back when it ends. Null: all are taken; such a
// thread brings a ThreadRecord of its own that nobody will read.
ThreadRecord* take_thread_record(RankRecord& rank);
void give_back_thread_record(ThreadRecord& record);

// Says for the time of a block which MPI call this thread is in. Calls nest (a user's callback may call MPI),
// so the outer one comes back at the end. One load and one store in, one store out, all on the thread's own
// line.
class CallMark {
 public:
  CallMark(ThreadRecord& record, std::uint16_t call) : record_(record) {
    const std::uint64_t outer = record.calls.load(std::memory_order_relaxed);
    const std::uint64_t here = next_call(outer, call);
    record_.calls.store(here, std::memory_order_relaxed);
    left_ = in_call(here, call_of(outer));
  }
  ~CallMark() { record_.calls.store(left_, std::memory_order_relaxed); }
  CallMark(const CallMark&) = delete;
  CallMark& operator=(const CallMark&) = delete;

 private:
  ThreadRecord& record_;
  std::uint64_t left_;  // what the record says afterwards
};

}  // namespace heddle::boot
