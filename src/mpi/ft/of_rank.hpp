// What a rank knows of failures, and what follows from them here: it looks at the job's log of failures whenever a thread polls, and goes
// through all operations when there is something new, and now and then after that.
//
// Cost: a job that ends with a failed rank has no such object, and its polls look at nothing. Here a poll looks at one word. After a failure
// every so-manieth poll, and each before a sleep, goes through the posted receives: operations that are begun later, with processes that have
// failed by then, are found so, and the path of a message asks nothing.
//
// Why nothing hangs: whoever waits polls, or sleeps while another thread of the rank polls for it, or sleeps on the rank's doorbell. mpiexec
// rings that after it has told of a failure, and a member that revokes rings it after that; if the member dies before, mpiexec rings for
// its death. A thread that has begun an operation polls after that before it sleeps, and that poll goes through everything.
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

// Of a communicator.
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

// What follows for operations from what was known at some time. Nobody holds a lock of ours while VNIs go through theirs.
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

  void meet(Comm& comm) override;
  void leave(Comm& comm) override;
  bool is_gone(int world_rank) const override { return rank_.job->is_gone(world_rank); }

  bool poll() override { return look(false); }
  bool poll_before_sleep() override { return look(true); }

  // All that is known at this moment: failures of the communicator, in order.
  std::vector<int> failed(Comm& comm);
  // Of them the first `n` are acknowledged, or all that there are; how many are.
  static constexpr std::uint32_t all = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t acknowledge(Comm& comm, std::uint32_t n);
  bool is_revoked(Comm& comm);
  Error revoke(Comm& comm);

  static Record& record_of(const Comm& comm) {
    return static_cast<Record&>(*comm.faults.load(std::memory_order_acquire));
  }
  // This member, to whoever decides for a communicator that spans nodes; as long as the record lives.
  boot::Proposer proposer(const Record& record) const { return {rank_.world_rank, record.context, record.members}; }
  // Returns when it was heard. Any thread.
  void propose(const boot::Frame& proposal);
  // What was decided for such communicators.
  boot::DecidedComms& decided_comms() const {
    return *reinterpret_cast<boot::DecidedComms*>(rank_.job->behind_memory());
  }
  // Wakes the members of a communicator that sleep, this process included, after a store that they would want to see.
  void notify(const Group& group);
  std::uint32_t failures() const { return rank_.job->failures().failures.load(std::memory_order_acquire); }

 private:
  bool look(bool before_sleep);
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
  std::shared_ptr<Record> orphans_;  // a list: of communicators that are gone
  LeftContexts left_;
  std::shared_ptr<const Judgment> judgment_;
  std::atomic<std::uint32_t> seen_{0};  // FailureLog::trouble, as of the last learn()
  std::atomic<std::uint32_t> polls_{0};
  std::atomic<bool> unfinished_{false};  // the last sweep has left something out
};

// Of a communicator in a job that survives failures: its rank's, and the communicator is known there. Else an error that says what to do.
Error find(Comm& comm, OfRank*& faults);

}  // namespace heddle::ft
