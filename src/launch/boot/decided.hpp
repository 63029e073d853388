// What was decided for communicators with members on several nodes, in a job that goes on without ranks that fail: the last part of the
// segment, behind the memory of the nodes, written by whoever hears the decisions (news.hpp), read by the ranks. Jobs on one node have none.
//
// Entries are found by the context of the communicator. One comes with the first decision for it, or when it is revoked, and goes when all
// members that live have freed the communicator; so a member finds its own without a lock, as long as it has not freed it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heddle::boot {

enum class Verdict : std::uint32_t {
  fine,
  failed,  // of an agree: a member that did not contribute has failed, and not all have acknowledged that
  mixed,   // some members were in an agree while others were in a shrink
};

// Of an agreement that is over. `number` is released last: whoever has acquired it sees the rest.
struct Decision {
  std::atomic<std::uint32_t> number;  // among those of the communicator, from 1 on
  std::atomic<Verdict> verdict;
  std::atomic<std::int32_t> flag;       // of an agree
  std::atomic<std::uint32_t> failures;  // of the job that were told before: a shrink leaves these out
  std::atomic<std::uint64_t> context;   // of the communicator that a shrink makes
};

// A member contributes to an agreement when it has what it needs of the one so many before, so that one's place is free by then.
inline constexpr std::uint32_t decisions_kept = 8;
inline constexpr int decided_comms = 4096;

struct DecidedComm {
  std::atomic<std::uint64_t> key;  // its context and 1; 0: the entry is free
  std::atomic<std::uint32_t> revoked;
  Decision decisions[decisions_kept];  // by number
};
struct alignas(64) DecidedComms {
  std::atomic<std::uint32_t> used;      // entries behind these were never taken
  std::atomic<std::uint32_t> overflow;  // 1: there was no entry left for one
  DecidedComm entries[decided_comms];
};

// The entry of the communicator with this context; null: there is none.
DecidedComm* find_decided(DecidedComms& all, std::uint64_t context);
// Of the agreement with this number; null: it is not over.
const Decision* find_decision(const DecidedComm& comm, std::uint32_t number);

}  // namespace heddle::boot
