#include "objects/binding/call_scope.hpp"

#include <new>

#include "base/platform/thread_end.hpp"
#include "base/threads/carried.hpp"
#include "base/threads/thread_ref.hpp"
#include "launch/rank/crash.hpp"
#include "launch/rank/rank.hpp"

namespace heddle::binding {

static_assert(static_cast<std::size_t>(Function::Wtime) < boot::calls_shown, "the last of them");

constinit thread_local boot::ThreadRecord* own_record = nullptr;

namespace {

constinit thread_local boot::ThreadRecord unread_record{};

// Gives the record back when the thread ends; not if its rank has ended before, for then mpiexec reads where it was.
struct Lease {
  boot::ThreadRecord* record = nullptr;  // null: no record was free
  boot::RankRecord* rank = nullptr;
  ~Lease() {
    own_record = nullptr;
    threads::shown = {};
    if (rank == nullptr || rank->end.load(std::memory_order_relaxed) != 0) return;
    if (record != nullptr) {
      boot::give_back_thread_record(*record);
    } else {
      rank->threads_without_record.fetch_sub(1, std::memory_order_relaxed);
    }
  }
};

// Null: there is no memory for one.
Lease* find_lease() {
  try {
    return &platform::OfThread<Lease>::get();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace

boot::ThreadRecord& find_record() {
  const boot::World* const job = current_rank().job.get();
  if (job == nullptr) return unread_record;  // not initialized yet; try again next time
  Lease* const found = find_lease();
  if (found == nullptr) return unread_record;  // the same
  Lease& lease = *found;
  lease.rank = &job->record();
  lease.record = boot::take_thread_record(*lease.rank);
  if (lease.record == nullptr) lease.rank->threads_without_record.fetch_add(1, std::memory_order_relaxed);
  take_crash_stack();
  own_record = lease.record ? lease.record : &unread_record;
  threads::shown = {&own_record->calls, job->record().suspended};
  if (threads::user_level_possible()) job->record().user_level.store(1, std::memory_order_relaxed);
  return *own_record;
}

}  // namespace heddle::binding
