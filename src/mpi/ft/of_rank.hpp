// A rank's knowledge of failures, and their consequences: it reads the job's log of failures whenever a thread polls,
// and traverses all operations when there is something new, and now and then after that.
//
// Cost: a job that ends with a failed rank has no such object, and its polls are unchanged. Here a poll reads one word.
// After a failure every Nth poll, and each before a thread blocks, traverses the posted receives: this finds operations
// that are begun later, with processes that have failed by then, without a test on the critical path of a message.
//
// No operation hangs: a waiting thread polls, or blocks while another thread of the rank polls for it, or blocks on the
// rank's doorbell. mpiexec rings that after it has reported a failure, and a member that revokes rings it after that;
// if the member dies before, mpiexec rings for its death. A thread that has begun an operation polls after that before
// it blocks, and that poll traverses everything.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/progress/pollables.hpp"
#include "base/threads/mutex.hpp"
#include "launch/boot/decided.hpp"
#include "launch/boot/decisions.hpp"
#include "launch/rank/rank.hpp"
#include "messaging/message/verdicts.hpp"
#include "mpi/ft/shared_comm.hpp"
#include "objects/object/faults.hpp"
#include "objects/object/group.hpp"

namespace heddle::ft {

// The state of a communicator.
struct Record final : CommFaults {
  explicit Record(Comm& of);
  ~Record() { release(group); }
  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;

  Comm* comm;  // null: it is gone, and receives that were begun on it are not
  const Context context;
  Group& group;
  const bool spans_nodes;          // some of its members are not of this node
  const std::vector<int> members;  // then: all of them, by their ranks in the job
  std::uint32_t scanned = 0;       // failures of the job
  std::vector<int> failed_ranks;   // world ranks of those that were members, in order
  std::shared_ptr<Record> next_orphan;
  std::atomic<std::uint32_t> agreements{0};  // that this member has begun
  // And of them, if it spans nodes, one after the other (job_agreement.cpp).
  std::atomic<std::uint32_t> contributed{0};
  std::atomic<std::uint32_t> concluded{0};
};

// The consequences for operations of the failures known at some time. No lock of ours is held while VNIs apply them.
struct Judgment final : message::Verdicts {
  std::span<const int> gone() const override { return gone_ranks; }
  int of_receive(std::uint64_t context, int source) const override;
  int of_send(std::uint64_t context, int peer) const override;
  const Record* find(std::uint64_t context) const;

  std::vector<int> gone_ranks;
  std::vector<std::shared_ptr<const Record>> broken;  // communicators with a member that has failed, or revoked
};

class OfRank final : public Faults, public progress::Pollable {
 public:
  explicit OfRank(Rank& rank);

  void add(Comm& comm) override;
  void leave(Comm& comm) override;
  bool is_gone(int world_rank) const override { return rank_.job->is_gone(world_rank); }

  bool poll() override { return check(false); }
  bool poll_before_sleep() override { return check(true); }

  // All failures of the communicator known at this moment, in order.
  std::vector<int> failed(Comm& comm);
  // The first `n` of them are acknowledged, or all; returns their number.
  static constexpr std::uint32_t all = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t acknowledge(Comm& comm, std::uint32_t n);
  bool is_revoked(Comm& comm);
  Error revoke(Comm& comm);

  static Record& record_of(const Comm& comm) {
    return static_cast<Record&>(*comm.faults.load(std::memory_order_acquire));
  }
  // This member, for the process that decides for a communicator that spans nodes; as long as the record lives.
  boot::Proposer proposer(const Record& record) const { return {rank_.world_rank, record.context, record.members}; }
  // Returns when it was received. Any thread.
  void propose(const boot::Frame& proposal);
  // The decisions for such communicators.
  boot::DecidedComms& decided_comms() const {
    return *reinterpret_cast<boot::DecidedComms*>(rank_.job->behind_memory());
  }
  // Wakes the blocked members of a communicator, this process included, after a store for which they must wake.
  void notify(const Group& group);
  std::uint32_t failures() const { return rank_.job->failures().failures.load(std::memory_order_acquire); }

 private:
  bool check(bool before_sleep);
  void sweep();
  // Under mutex_.
  void learn();
  void scan(Record& record);
  bool was_revoked(const Record& record) const;
  static void take_revocation(Record& record);
  bool leave_shared_parts(Context context, bool spans_nodes);
  void leave_late();
  void judge();

  Rank& rank_;
  threads::Mutex mutex_;
  std::unordered_map<const Comm*, std::shared_ptr<Record>> records_;
  std::shared_ptr<Record> orphans_;  // a list of freed communicators
  LeftContexts left_;
  std::shared_ptr<const Judgment> judgment_;
  std::atomic<std::uint32_t> seen_{0};  // FailureLog::trouble at the last learn()
  std::atomic<std::uint32_t> polls_{0};
  std::atomic<bool> unfinished_{false};  // the last sweep has left something out
};

// For a communicator in a job that survives failures: its rank's object, and the communicator is registered there. Else
// an error that names the remedy.
Error find(Comm& comm, OfRank*& faults);

}  // namespace heddle::ft
