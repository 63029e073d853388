#include "binding/call_scope.hpp"

#include "rank/crash.hpp"
#include "rank/rank.hpp"
#include "threads/carried.hpp"
#include "threads/thread_ref.hpp"

namespace heddle::binding {

static_assert(static_cast<std::size_t>(Function::Wtime) < boot::calls_shown, "the last of them");

constinit thread_local boot::ThreadRecord* own_record = nullptr;

namespace {

constinit thread_local boot::ThreadRecord nobody_reads{};

// Gives the record back when the thread ends.
struct Lease {
  boot::ThreadRecord* record = nullptr;
  boot::RankRecord* counted = nullptr;  // where the thread is one of those that found no record
  ~Lease() {
    own_record = nullptr;
    threads::shown = {};
    if (record) boot::give_back_thread_record(*record);
    if (counted) counted->threads_without_record.fetch_sub(1, std::memory_order_relaxed);
  }
};
thread_local Lease lease;

}  // namespace

boot::ThreadRecord& find_record() {
  const boot::Job& job = current_rank().job;
  if (!job.records) return nobody_reads;  // not initialized yet; ask again next time
  lease.record = boot::take_thread_record(job.record());
  if (!lease.record) {
    lease.counted = &job.record();
    lease.counted->threads_without_record.fetch_add(1, std::memory_order_relaxed);
  }
  take_crash_stack();
  own_record = lease.record ? lease.record : &nobody_reads;
  threads::shown = {&own_record->calls, job.record().suspended};
  if (threads::user_level_possible()) job.record().user_level.store(1, std::memory_order_relaxed);
  return *own_record;
}

}  // namespace heddle::binding
