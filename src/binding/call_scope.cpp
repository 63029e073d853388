#include "binding/call_scope.hpp"

#include "rank/rank.hpp"
#include "threads/carried.hpp"

namespace heddle::binding {

constinit thread_local boot::ThreadRecord* own_record = nullptr;

namespace {

constinit thread_local boot::ThreadRecord nobody_reads{};

// Gives the record back when the thread ends.
struct Lease {
  boot::ThreadRecord* record = nullptr;
  ~Lease() {
    own_record = nullptr;
    threads::call_word = nullptr;
    if (record) boot::give_back_thread_record(*record);
  }
};
thread_local Lease lease;

}  // namespace

boot::ThreadRecord& find_record() {
  const boot::Job& job = current_rank().job;
  if (!job.records) return nobody_reads;  // not initialized yet; ask again next time
  lease.record = boot::take_thread_record(job.record());
  own_record = lease.record ? lease.record : &nobody_reads;
  threads::call_word = &own_record->calls;
  return *own_record;
}

}  // namespace heddle::binding
