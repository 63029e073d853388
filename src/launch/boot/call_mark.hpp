// The mark of a thread's current MPI call in its rank's record.
#pragma once

#include <cstdint>

#include "launch/boot/job.hpp"

namespace heddle::boot {

// A thread takes a record at its first MPI call and gives it back when it ends. Null: all are taken; such a thread uses
// a ThreadRecord of its own that no process reads.
ThreadRecord* take_thread_record(RankRecord& rank);
void give_back_thread_record(ThreadRecord& record);

// Marks this thread as in an MPI call for the time of a block. Calls nest (a user's callback may call MPI), so the
// outer one is restored at the end. One load and one store in, one store out, all on the thread's own line.
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
  std::uint64_t left_;  // the record's value afterwards
};

}  // namespace heddle::boot
