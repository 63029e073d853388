// The shared state of a communicator's members, all of one node, in its memory: if it was revoked, and each member's
// contributions to agreements. It survives its members. Made by the first of them that needs it, found by the
// communicator's context in a table of the job's segment.
//
// A store there is seen by all members or by none, whatever happens to its writer. The table and the memory are valid
// after each store (base/sync/robust_lock.hpp), so a member that dies loses a block at most.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/node/heap.hpp"
#include "base/platform/native.hpp"
#include "base/sync/agreement.hpp"
#include "launch/boot/decisions.hpp"
#include "launch/boot/job.hpp"
#include "launch/rank/rank.hpp"
#include "mpi/ft/left_contexts.hpp"
#include "objects/object/comm.hpp"
#include "objects/object/group.hpp"

namespace heddle::ft {

// A member's contribution to an agreement of members on one node.
struct Contribution {
  boot::Contribution::Operation operation;
  std::int32_t flag;           // of an agree
  std::uint32_t failures;      // failures of the job that the member knows
  std::uint32_t acknowledged;  // failures of the communicator that it has acknowledged
  Context context;             // for the communicator that a shrink makes, if this member is its first
};

struct alignas(platform::cache_line) SharedMember {
  // Agreements that may be in progress at a time.
  static constexpr std::uint32_t window = 8;
  sync::AgreementSlot<platform::Native, sizeof(Contribution), window> agreements;
  platform::Native::atomic<std::uint32_t> left;  // it has freed the communicator
  std::int32_t world_rank;
};

struct alignas(platform::cache_line) SharedComm {
  platform::Native::atomic<std::uint32_t> revoked;
  std::uint32_t members;
  // The members follow, by their rank.
  SharedMember& member(std::uint32_t m) { return reinterpret_cast<SharedMember*>(this + 1)[m]; }

  static std::size_t bytes(int members) {
    return sizeof(SharedComm) + static_cast<std::size_t>(members) * sizeof(SharedMember);
  }
};

// The state of the communicator with this context, of which the caller is a member and has not left; null: there is
// none.
SharedComm* find_shared(Rank& rank, Context context);
// The same, made if there is none; null: there is no memory left, or too many communicators have one.
SharedComm* find_or_make_shared(Rank& rank, Context context, const Group& group);
// The caller is a member no longer: unused state is freed. False: there is none.
bool leave_shared(Rank& rank, Context context);
// The same for all communicators that the rank has left before the state was made, and for those whose last members
// have failed.
void tidy_shared(Rank& rank, LeftContexts& left);

}  // namespace heddle::ft
