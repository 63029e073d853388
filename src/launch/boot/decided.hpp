// Decisions for communicators with members on several nodes, in a job that survives failed ranks: the last part of the
// segment, behind the memory of the nodes, written by the process that receives the decisions (news.hpp), read by the
// ranks. Jobs on one node have none.
//
// Entries are found by the context of the communicator. An entry is made with the first decision, or when the
// communicator is revoked, and removed when all live members have freed the communicator; so a member finds its own
// without a lock, as long as it has not freed it.
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

// A completed agreement. `number` is released last: a reader that has acquired it sees the rest.
struct Decision {
  std::atomic<std::uint32_t> number;  // its number in the communicator, from 1 on
  std::atomic<Verdict> verdict;
  std::atomic<std::int32_t> flag;       // of an agree
  std::atomic<std::uint32_t> failures;  // failures of the job that were reported before: a shrink leaves these out
  std::atomic<std::uint64_t> context;   // of the communicator that a shrink makes
};

// A member contributes to an agreement after it has read the decision so many before, so that one's slot is free by
// then.
inline constexpr std::uint32_t decisions_kept = 8;
inline constexpr int decided_comms = 4096;

struct DecidedComm {
  std::atomic<std::uint64_t> key;  // its context and 1; 0: the entry is free
  std::atomic<std::uint32_t> revoked;
  Decision decisions[decisions_kept];  // by number
};
struct alignas(64) DecidedComms {
  std::atomic<std::uint32_t> used;      // entries behind these have never been used
  std::atomic<std::uint32_t> overflow;  // 1: a communicator got no entry, since all were in use
  DecidedComm entries[decided_comms];
};

// The entry of the communicator with this context; null: there is none.
DecidedComm* find_decided(DecidedComms& all, std::uint64_t context);
// The agreement with this number; null: it is not complete.
const Decision* find_decision(const DecidedComm& comm, std::uint32_t number);

}  // namespace heddle::boot
