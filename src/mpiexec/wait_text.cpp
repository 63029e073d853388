#include "mpiexec/wait_text.hpp"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "binding/functions.hpp"
#include "mpiexec/words.hpp"

namespace heddle::mpiexec {
namespace {

// A context's parts: object/context.hpp.
constexpr std::uint64_t contexts_apart = 128;
constexpr int counter_bits = 36;

bool name_in(const boot::RankRecord& record, std::uint64_t context, std::string& name) {
  for (const boot::ContextName& one : record.names) {
    char text[boot::ContextName::longest + 1];
    if (!one.is_of(context)) continue;
    one.read(text);
    if (!one.is_of(context)) continue;
    name = text;
    return true;
  }
  return false;
}

// Not every member has named it.
std::string communicator(const Segment& segment, int rank, std::uint64_t any_plane) {
  const std::uint64_t context = any_plane & ~std::uint64_t{3};
  std::string name;
  if (name_in(segment.records[rank], context, name)) return name;
  for (int other = 0; other < ranks_here(segment); ++other)
    if (segment.records[other].state.load() == boot::RankState::inited &&
        name_in(segment.records[other], context, name))
      return name;
  const std::uint64_t number = context / contexts_apart;
  return "an unnamed communicator (" + std::to_string(number >> counter_bits) + ':' +
         std::to_string(number & ((std::uint64_t{1} << counter_bits) - 1)) + ')';
}

std::string from(int peer) { return peer == MPI_ANY_SOURCE ? "MPI_ANY_SOURCE" : std::to_string(peer); }
std::string with(int tag) { return tag == MPI_ANY_TAG ? "MPI_ANY_TAG" : "tag " + std::to_string(tag); }

// A delivery knows its destination by the rank in MPI_COMM_WORLD.
std::string to(int peer, const std::string& communicator) {
  return std::to_string(peer) + (communicator == "MPI_COMM_WORLD" ? "" : " of MPI_COMM_WORLD");
}

std::string of_requests(const boot::Wait& wait) {
  if (wait.requests <= 1) return "";
  return std::string(wait.any ? " for one of " : " for ") + std::to_string(wait.requests) + " requests, the first";
}

// ---- Members that an operation over shared memory waits for

bool reached(std::uint32_t now, std::uint32_t wanted) { return static_cast<std::int32_t>(now - wanted) >= 0; }

// Those that wait in the operation themselves; false: some threads that wait have found no slot.
bool find_waiting(const Segment& segment, const boot::Wait& wait, std::vector<bool>& come) {
  bool all_told = true;
  for (int rank = 0; rank < ranks_here(segment); ++rank) {
    const boot::RankRecord& record = segment.records[rank];
    if (record.state.load() != boot::RankState::inited) continue;
    all_told = all_told && record.waits_without_slot.load() == 0;
    const int used = std::min<int>(static_cast<int>(record.slots_used.load()), boot::wait_slots);
    for (int i = 0; i < used; ++i) {
      boot::Wait other;
      if (record.waits[i].read(other) == 0 || other.what != wait.what || other.context != wait.context ||
          other.progress != wait.progress)
        continue;
      if (other.operation == wait.operation && other.member >= 0 && other.member < wait.members)
        come[static_cast<std::size_t>(other.member)] = true;
    }
  }
  return all_told;
}

// Those that are in it, or have done their part, and the ranks of all; false: the memory can't be read.
bool find_done(const Segment& segment, const boot::Wait& wait, std::vector<bool>& come, std::vector<int>& ranks) {
  for (std::size_t m = 0; m < come.size(); ++m) {
    boot::MemberProgress progress{};
    const auto at = static_cast<off_t>(segment.header->heap_offset + wait.progress + m * sizeof progress);
    if (pread(segment.fd, &progress, sizeof progress, at) != sizeof progress) return false;
    ranks[m] = progress.rank;
    const std::uint64_t noted = progress.notes[wait.operation % 2].what.load() >> boot::MemberProgress::kind_bits;
    if (reached(progress.finished.load(std::memory_order_relaxed), wait.operation) || noted == wait.operation)
      come[m] = true;
  }
  return true;
}

std::string not_come(const Segment& segment, const boot::Wait& wait) {
  std::vector<bool> come(static_cast<std::size_t>(std::max(wait.members, 0)));
  std::vector<int> ranks(come.size());
  if (!find_waiting(segment, wait, come) || !find_done(segment, wait, come, ranks)) return "";
  std::vector<int> missing;
  for (std::size_t m = 0; m < come.size(); ++m)
    if (!come[m]) missing.push_back(ranks[m]);
  return missing.empty() ? "" : "; not come: " + number_ranges(missing);
}

}  // namespace

WaitText wait_text(const Segment& segment, int rank, const boot::Wait& wait) {
  const std::string call = wait.call != 0 ? name(Function{wait.call}) : "a call";
  const std::string on = ", " + communicator(segment, rank, wait.context);
  const std::string begin = call + of_requests(wait);
  switch (wait.what) {
    case boot::Awaited::message:
    case boot::Awaited::probed:
      return {begin + " from " + from(wait.peer) + ", " + with(wait.tag) + on, ""};
    case boot::Awaited::delivery:
      return {begin + " to " + to(wait.peer, on.substr(2)) + ", " + with(wait.tag) + on, ""};
    case boot::Awaited::operation_message:
      return {call + on, "; for a message from " + from(wait.peer)};
    case boot::Awaited::operation_delivery:
      return {call + on, "; for a message to " + to(wait.peer, on.substr(2))};
    case boot::Awaited::operation:
      return {begin + (wait.requests <= 1 ? " for" : "") + " a nonblocking collective" + on, ""};
    case boot::Awaited::members:
      return {call + on, not_come(segment, wait)};
    case boot::Awaited::root:
      return {call + " from root " + std::to_string(wait.peer) + on, ""};
    case boot::Awaited::leader:
      return {call + on, "; for rank " + std::to_string(wait.peer) + ", which speaks for its node"};
    case boot::Awaited::partitions:
      return {begin + (wait.requests <= 1 ? " for" : "") + " a partitioned message, peer " + from(wait.peer) + ", " +
                  with(wait.tag) + on,
              ""};
    case boot::Awaited::target_lock:
      return {call + (wait.peer < 0 ? " of all targets" : " of target " + std::to_string(wait.peer)), ""};
    case boot::Awaited::target_post:
      return {call + " for the MPI_Win_post of " + std::to_string(wait.peer), ""};
    case boot::Awaited::origins:
      return {call + " for the MPI_Win_complete of its origins", ""};
    case boot::Awaited::target_answer:
      return {call + " for " + (wait.peer < 0 ? "other members" : "rank " + std::to_string(wait.peer)) +
                  " of the window, on another node",
              ""};
    case boot::Awaited::exchange:
      return {begin + (wait.requests <= 1 ? " for" : "") + " a send and a receive" + on, ""};
    case boot::Awaited::unknown:
      break;
  }
  return {call + (wait.requests > 1 ? " for " + std::to_string(wait.requests) + " requests" : ""), ""};
}

}  // namespace heddle::mpiexec
