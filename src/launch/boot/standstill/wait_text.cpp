#include "launch/boot/standstill/wait_text.hpp"

#include <mpi.h>

#include <algorithm>
#include <vector>

#include "base/functions.hpp"
#include "launch/boot/number_ranges.hpp"

namespace heddle::boot {
namespace {

// A context's parts: objects/object/context.hpp.
constexpr std::uint64_t contexts_apart = 128;
constexpr int counter_bits = 36;

std::uint64_t of_communicator(std::uint64_t any_plane) { return any_plane & ~std::uint64_t{3}; }

bool name_in(const RankRecord& record, std::uint64_t context, std::string& name) {
  for (const ContextName& one : record.names) {
    char text[ContextName::longest + 1];
    if (!one.is_of(context)) continue;
    one.read(text);
    if (!one.is_of(context)) continue;
    name = text;
    return true;
  }
  return false;
}

// Not every member has named it.
std::string communicator(const RanksView& view, int rank, std::uint64_t any_plane) {
  const std::uint64_t context = of_communicator(any_plane);
  std::string name;
  if (name_in(view.records[rank], context, name)) return name;
  for (int other = 0; other < view.ranks(); ++other)
    if (view.records[other].state.load() == RankState::inited && name_in(view.records[other], context, name))
      return name;
  const std::uint64_t number = context / contexts_apart;
  return "an unnamed communicator (" + std::to_string(number >> counter_bits) + ':' +
         std::to_string(number & ((std::uint64_t{1} << counter_bits) - 1)) + ')';
}

std::string from(int peer) { return peer == MPI_ANY_SOURCE ? "MPI_ANY_SOURCE" : std::to_string(peer); }
std::string with(int tag) { return tag == MPI_ANY_TAG ? "MPI_ANY_TAG" : "tag " + std::to_string(tag); }

// A delivery names its destination by the rank in MPI_COMM_WORLD.
std::string to(int peer, const std::string& communicator) {
  return std::to_string(peer) + (communicator == "MPI_COMM_WORLD" ? "" : " of MPI_COMM_WORLD");
}

std::string of_requests(const Wait& wait) {
  if (wait.requests <= 1) return "";
  return std::string(wait.any ? " for one of " : " for ") + std::to_string(wait.requests) + " requests, the first";
}

// ---- Members that an operation over shared memory waits for

bool reached(std::uint32_t now, std::uint32_t wanted) { return static_cast<std::int32_t>(now - wanted) >= 0; }

struct Member {
  int rank;  // in the communicator
  int job_rank;
  bool done;  // it has finished the operation
  bool come;  // or is in it
};

// Empty: the memory cannot be read.
std::vector<Member> members_of(const RanksView& view, const Wait& wait) {
  std::vector<Member> members;
  for (int m = 0; m < wait.members; ++m) {
    MemberProgress progress{};
    if (!view.read(wait.progress + static_cast<std::size_t>(m) * sizeof progress, &progress, sizeof progress))
      return {};
    const std::uint64_t noted = progress.notes[wait.operation % 2].what.load() >> MemberProgress::kind_bits;
    const bool done = reached(progress.finished.load(std::memory_order_relaxed), wait.operation);
    members.push_back({progress.rank, progress.job_rank, done, done || noted == wait.operation});
  }
  return members;
}

bool is_in_collective(const Wait& wait) {
  switch (wait.what) {
    case Awaited::operation_message:
    case Awaited::operation_delivery:
    case Awaited::members:
    case Awaited::behind:
    case Awaited::root:
    case Awaited::leader:
      return true;
    default:
      return false;
  }
}

// A thread of the rank waits in the same call on the same communicator: perhaps for a message that comes before the
// operation, as in the first one on a communicator.
bool waits_in(const RankRecord& record, const Wait& wait) {
  const int used = std::min<int>(static_cast<int>(record.slots_used.load()), wait_slots);
  for (int i = 0; i < used; ++i) {
    Wait other;
    if (record.waits[i].read(other) != 0 && is_in_collective(other) && other.call == wait.call &&
        of_communicator(other.context) == of_communicator(wait.context))
      return true;
  }
  return false;
}

bool all_waits_have_slots(const RanksView& view) {
  for (int rank = 0; rank < view.ranks(); ++rank) {
    const RankRecord& record = view.records[rank];
    if (record.state.load() == RankState::inited && record.waits_without_slot.load() != 0) return false;
  }
  return true;
}

std::string not_come(const RanksView& view, const Wait& wait) {
  if (!all_waits_have_slots(view)) return "";
  std::vector<int> missing;
  for (const Member& member : members_of(view, wait)) {
    const int place = member.job_rank - view.first;
    const bool waits = place >= 0 && place < view.ranks() && waits_in(view.records[place], wait);
    if (!member.come && !waits) missing.push_back(member.rank);
  }
  return missing.empty() ? "" : "; not come: " + number_ranges(missing);
}

std::string behind(const RanksView& view, const Wait& wait) {
  std::vector<int> slow;
  for (const Member& member : members_of(view, wait))
    if (!member.done) slow.push_back(member.rank);
  return slow.empty() ? "" : "; ahead of: " + number_ranges(slow);
}

}  // namespace

WaitText wait_text(const RanksView& view, int rank, const Wait& wait) {
  const std::string call = wait.call != 0 ? name(Function{wait.call}) : "a call";
  const std::string on = ", " + communicator(view, rank, wait.context);
  const std::string begin = call + of_requests(wait);
  switch (wait.what) {
    case Awaited::message:
    case Awaited::probed:
      return {begin + " from " + from(wait.peer) + ", " + with(wait.tag) + on, ""};
    case Awaited::delivery:
      return {begin + " to " + to(wait.peer, on.substr(2)) + ", " + with(wait.tag) + on, ""};
    case Awaited::operation_message:
      return {call + on, "; for a message from " + from(wait.peer)};
    case Awaited::operation_delivery:
      return {call + on, "; for a message to " + to(wait.peer, on.substr(2))};
    case Awaited::operation:
      return {begin + (wait.requests <= 1 ? " for" : "") + " a nonblocking collective" + on, ""};
    case Awaited::members:
      return {call + on, not_come(view, wait)};
    case Awaited::behind:
      return {call + on, behind(view, wait)};
    case Awaited::root:
      return {call + " from root " + std::to_string(wait.peer) + on, ""};
    case Awaited::leader:
      return {call + on, "; for rank " + std::to_string(wait.peer) + ", the leader of its node"};
    case Awaited::partitions:
      return {begin + (wait.requests <= 1 ? " for" : "") + " a partitioned message, peer " + from(wait.peer) + ", " +
                  with(wait.tag) + on,
              ""};
    case Awaited::target_lock:
      return {call + (wait.peer < 0 ? " of all targets" : " of target " + std::to_string(wait.peer)), ""};
    case Awaited::target_post:
      return {call + " for the MPI_Win_post of " + std::to_string(wait.peer), ""};
    case Awaited::origins:
      return {call + " for the MPI_Win_complete of its origins", ""};
    case Awaited::target_answer:
      return {call + " for " + (wait.peer < 0 ? "other members" : "rank " + std::to_string(wait.peer)) +
                  " of the window, on another node",
              ""};
    case Awaited::exchange:
      return {begin + (wait.requests <= 1 ? " for" : "") + " a send and a receive" + on, ""};
    case Awaited::unknown:
      break;
  }
  return {call + (wait.requests > 1 ? " for " + std::to_string(wait.requests) + " requests" : ""), ""};
}

}  // namespace heddle::boot
