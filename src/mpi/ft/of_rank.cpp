#include "mpi/ft/of_rank.hpp"

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <new>
#include <string>
#include <utility>

#include "launch/boot/join.hpp"
#include "messaging/engine/engine.hpp"
#include "messaging/p2p/p2p.hpp"
#include "mpi/ft/begin.hpp"

namespace heddle::ft {

namespace {

// Polls until the next one that traverses the posted receives, once there has been a failure.
constexpr std::uint32_t polls_a_sweep = 64;

constexpr char too_many_comms[] =
    "heddle: too many revoked communicators, and communicators with agreements, between nodes: at most 4096 are "
    "supported. "
    "Free "
    "those that are not needed any more";

Plane plane_of(std::uint64_t context) { return static_cast<Plane>(context % planes); }
Context base_of(std::uint64_t context) { return context - context % planes; }

}  // namespace

namespace {

std::vector<int> all_of(const Group& group) {
  std::vector<int> members(static_cast<std::size_t>(group.size));
  for (int m = 0; m < group.size; ++m) members[static_cast<std::size_t>(m)] = group.world_rank(m);
  return members;
}

}  // namespace

Record::Record(Comm& of)
    : comm(&of),
      context(of.context),
      group(*of.local_group),
      spans_nodes(!p2p::is_on_one_node(of)),
      members(spans_nodes ? all_of(group) : std::vector<int>()) {
  retain(group);
}

void begin(Rank& rank) {
  auto faults = std::make_unique<OfRank>(rank);
  rank.pollables->add(*faults);
  rank.faults = std::move(faults);
}

Error find(Comm& comm, OfRank*& faults) {
  faults = static_cast<OfRank*>(comm.owner->faults.get());
  if (faults == nullptr)
    return fail(MPI_ERR_UNSUPPORTED_OPERATION,
                "this job does not survive failed processes. Start it with mpiexec -with-ft ulfm (Heddle's) to "
                "go on");
  faults->add(comm);
  return success;
}

OfRank::OfRank(Rank& rank) : rank_(rank), judgment_(std::make_shared<const Judgment>()) {}

// ---- Communicators

void OfRank::add(Comm& comm) {
  if (comm.faults.load(std::memory_order_acquire) != nullptr) return;
  const std::lock_guard guard(mutex_);
  if (comm.faults.load(std::memory_order_relaxed) != nullptr) return;
  const auto record = std::make_shared<Record>(comm);
  scan(*record);
  if (was_revoked(*record)) record->revoked.store(true);
  records_.emplace(&comm, record);
  try {
    if (record->is_broken()) judge();
  } catch (const std::bad_alloc&) {
    records_.erase(&comm);
    throw;
  }
  comm.faults.store(record.get(), std::memory_order_release);
}

namespace {

// Decides nothing, and finds out if there are receives of a communicator.
struct FindsReceives final : message::Verdicts {
  explicit FindsReceives(Context of) : wanted(of) {}
  std::span<const int> gone() const override { return {}; }
  int of_receive(std::uint64_t context, int) const override {
    found = found || base_of(context) == wanted;
    return MPI_SUCCESS;
  }
  int of_send(std::uint64_t, int) const override { return MPI_SUCCESS; }

  const Context wanted;
  mutable bool found = false;
};

}  // namespace

// A program may free a communicator before its receives are over, and they must end, too. One that was never used here
// may have been revoked by others, or may be so later.
void OfRank::leave(Comm& comm) {
  const bool is_used = comm.faults.load(std::memory_order_acquire) != nullptr;
  const bool has_name = comm.context != 0 || !comm.user_made;  // else it was not made after all
  FindsReceives receives(comm.context);
  if (is_used) (void)rank_.engine->sweep(receives);
  const std::lock_guard guard(mutex_);
  try {
    const bool spans_nodes = is_used ? record_of(comm).spans_nodes : !p2p::is_on_one_node(comm);
    if (has_name && !leave_shared_parts(comm.context, spans_nodes)) left_.add(comm.context);
  } catch (const std::bad_alloc&) {  // then the shared state stays until the job ends
  }
  if (!is_used) return;
  const auto found = records_.find(&comm);
  found->second->comm = nullptr;
  if (receives.found) {
    found->second->next_orphan = std::move(orphans_);
    orphans_ = found->second;
  }
  records_.erase(found);
}

// False: this communicator has no shared state.
bool OfRank::leave_shared_parts(Context context, bool spans_nodes) {
  if (!spans_nodes) return leave_shared(rank_, context);
  if (boot::find_decided(decided_comms(), context) == nullptr) return false;
  propose(boot::word_of_leaving(rank_.world_rank, context));
  return true;
}

// Frees shared state that was made after this rank has left, and, on one node, the remains of failed members.
void OfRank::leave_late() {
  tidy_shared(rank_, left_);
  if (rank_.job->nodes() == 1 || !left_.any()) return;
  boot::DecidedComms& decided = decided_comms();
  for (std::uint32_t i = 0; i < decided.used.load(std::memory_order_acquire); ++i) {
    const std::uint64_t key = decided.entries[i].key.load(std::memory_order_acquire);
    if (key != 0 && left_.take(key - 1)) propose(boot::word_of_leaving(rank_.world_rank, key - 1));
  }
}

std::vector<int> OfRank::failed(Comm& comm) {
  const std::lock_guard guard(mutex_);
  learn();
  return record_of(comm).failed_ranks;
}

std::uint32_t OfRank::acknowledge(Comm& comm, std::uint32_t n) {
  Record& record = record_of(comm);
  {
    const std::lock_guard guard(mutex_);
    learn();
    n = std::min(n, static_cast<std::uint32_t>(record.failed_ranks.size()));
    if (n <= record.acknowledged.load(std::memory_order_relaxed))
      return record.acknowledged.load(std::memory_order_relaxed);
    record.acknowledged.store(n, std::memory_order_release);
  }
  sweep();  // receives from any source go on
  return n;
}

bool OfRank::is_revoked(Comm& comm) {
  const std::lock_guard guard(mutex_);
  learn();
  return record_of(comm).is_revoked();
}

Error OfRank::revoke(Comm& comm) {
  Record& record = record_of(comm);
  if (record.spans_nodes) {
    {
      const std::lock_guard guard(mutex_);
      if (!record.is_revoked()) take_revocation(record);
      judge();
    }
    propose(boot::proposal_to_revoke(proposer(record)));
  } else {
    SharedComm* const shared = find_or_make_shared(rank_, record.context, record.group);
    if (shared == nullptr)
      return fail(MPI_ERR_NO_MEM,
                  "cannot revoke the communicator: no memory left in the job's segment, or %d communicators use it",
                  boot::shared_comms);
    shared->revoked.store(1, std::memory_order_seq_cst);
    rank_.job->failures().trouble.fetch_add(
        1, std::memory_order_seq_cst);  // also after another member: that one may never get to it
    {
      const std::lock_guard guard(mutex_);
      learn();
    }
    notify(record.group);
  }
  sweep();
  return success;
}

void OfRank::propose(const boot::Frame& proposal) {
  const Result<std::string> answer = rank_.job->ask_launcher(proposal.encode());
  if (answer) return;
  char text[600];
  std::snprintf(text, sizeof text, "heddle: members on several nodes cannot agree: %s", answer.failure().text.c_str());
  boot::abort(rank_.job.get(), MPI_ERR_OTHER, text);
}

void OfRank::notify(const Group& group) {
  for (int r = 0; r < group.size; ++r) p2p::notify(rank_, group.world_rank(r));
}

// ---- New events

bool OfRank::check(bool before_sleep) {
  const std::uint32_t trouble = rank_.job->failures().trouble.load(std::memory_order_acquire);
  poll_again = false;
  if (trouble == 0) [[likely]]
    return false;
  const bool news = trouble != seen_.load(std::memory_order_relaxed);
  const bool due = before_sleep || unfinished_.load(std::memory_order_relaxed) ||
                   polls_.fetch_add(1, std::memory_order_relaxed) % polls_a_sweep == 0;
  if (!news && !due) return false;
  if (news) {
    const std::lock_guard guard(mutex_);
    learn();
  }
  sweep();
  poll_again = unfinished_.load(std::memory_order_relaxed);
  return false;
}

void OfRank::sweep() {
  std::shared_ptr<const Judgment> judgment;
  {
    const std::lock_guard guard(mutex_);
    judgment = judgment_;
  }
  unfinished_.store(!rank_.engine->sweep(*judgment), std::memory_order_relaxed);
}

void OfRank::learn() {
  const std::uint32_t trouble = rank_.job->failures().trouble.load(std::memory_order_seq_cst);
  if (trouble == seen_.load(std::memory_order_relaxed)) return;
  if (rank_.job->nodes() > 1 && decided_comms().overflow.load(std::memory_order_relaxed) != 0)
    boot::abort(rank_.job.get(), MPI_ERR_NO_MEM, too_many_comms);
  for (const auto& [comm, record] : records_) {
    scan(*record);
    if (!record->is_revoked() && was_revoked(*record)) take_revocation(*record);
  }
  for (Record* orphan = orphans_.get(); orphan != nullptr; orphan = orphan->next_orphan.get()) scan(*orphan);
  judge();
  leave_late();
  seen_.store(trouble, std::memory_order_relaxed);
}

bool OfRank::was_revoked(const Record& record) const {
  if (record.spans_nodes) {
    const boot::DecidedComm* const decided = boot::find_decided(decided_comms(), record.context);
    return decided != nullptr && decided->revoked.load(std::memory_order_seq_cst) != 0;
  }
  const SharedComm* const shared = find_shared(rank_, record.context);
  return shared != nullptr && shared->revoked.load(std::memory_order_seq_cst) != 0;
}

void OfRank::take_revocation(Record& record) {
  record.revoked.store(true, std::memory_order_seq_cst);
  // The next operation asks for another (p2p::choose_vni).
  record.comm->vni.store(nullptr, std::memory_order_seq_cst);
}

void OfRank::scan(Record& record) {
  const std::uint32_t known = failures();
  for (; record.scanned < known; ++record.scanned) {
    const int failed = rank_.job->failed(record.scanned);
    for (int r = 0; r < record.group.size; ++r)
      if (record.group.world_rank(r) == failed) record.failed_ranks.push_back(failed);
  }
  record.failed.store(static_cast<std::uint32_t>(record.failed_ranks.size()), std::memory_order_release);
}

void OfRank::judge() {
  const auto judgment = std::make_shared<Judgment>();
  const std::uint32_t known = failures();
  for (std::uint32_t i = 0; i < known; ++i) judgment->gone_ranks.push_back(rank_.job->failed(i));
  std::ranges::sort(judgment->gone_ranks);
  for (const auto& [comm, record] : records_)
    if (record->is_broken()) judgment->broken.push_back(record);
  for (std::shared_ptr<Record> orphan = orphans_; orphan != nullptr; orphan = orphan->next_orphan)
    if (orphan->is_broken()) judgment->broken.push_back(orphan);
  judgment_ = judgment;
}

// ---- The end of operations

const Record* Judgment::find(std::uint64_t context) const {
  for (const auto& record : broken)
    if (record->context == base_of(context)) return record.get();
  return nullptr;
}

// A collective operation cannot complete on all members, so it ends on each as soon as that one knows: none waits for
// another that has gone on.
int Judgment::of_receive(std::uint64_t context, int source) const {
  const Record* const record = find(context);
  if (record == nullptr) return MPI_SUCCESS;
  if (record->is_revoked()) return MPIX_ERR_REVOKED;
  if (plane_of(context) == Plane::collective) return MPIX_ERR_PROC_FAILED;
  if (source == MPI_ANY_SOURCE) return record->is_pending() ? MPIX_ERR_PROC_FAILED_PENDING : MPI_SUCCESS;
  return is_gone(record->group.world_rank(source)) ? MPIX_ERR_PROC_FAILED : MPI_SUCCESS;
}

int Judgment::of_send(std::uint64_t context, int peer) const {
  if (is_gone(peer)) return MPIX_ERR_PROC_FAILED;
  const Record* const record = find(context);
  if (record == nullptr) return MPI_SUCCESS;
  if (record->is_revoked()) return MPIX_ERR_REVOKED;
  return plane_of(context) == Plane::collective ? MPIX_ERR_PROC_FAILED : MPI_SUCCESS;
}

}  // namespace heddle::ft
