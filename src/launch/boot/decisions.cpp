#include "launch/boot/decisions.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "launch/boot/decided.hpp"

namespace heddle::boot {
namespace {

void add_members(Frame& frame, std::span<const int> members) {
  for (const int member : members) frame.add(member);
}

std::vector<int> members_in(Fields& fields) {
  std::vector<int> members;
  while (!fields.rest().empty() && fields.complete()) members.push_back(fields.index());
  return members;
}

}  // namespace

Frame proposal_to_agree(const Proposer& proposer, std::uint32_t number, const Contribution& contribution) {
  Frame frame(FrameKind::contribute);
  frame.add(proposer.rank).add(proposer.context).add(number);
  frame.add(static_cast<std::uint32_t>(contribution.operation)).add(contribution.flag);
  frame.add(contribution.acknowledged).add(contribution.context);
  if (number == 1) add_members(frame, proposer.members);  // the deciding process stores them
  return frame;
}

Frame proposal_to_revoke(const Proposer& proposer) {
  Frame frame(FrameKind::revoke);
  frame.add(proposer.rank).add(proposer.context);
  add_members(frame, proposer.members);
  return frame;
}

Frame word_of_leaving(int rank, std::uint64_t context) { return Frame(FrameKind::leave).add(rank).add(context); }

void Decisions::hear(const Frame& frame) {
  Fields fields(frame);
  const int rank = fields.index();
  const std::uint64_t context = fields.long_number();
  if (frame.kind() == FrameKind::contribute) {
    const std::uint32_t number = fields.number();
    const auto operation = static_cast<Contribution::Operation>(fields.number());
    const auto flag = static_cast<std::int32_t>(fields.number());
    const std::uint32_t acknowledged = fields.number();
    const std::uint64_t child = fields.long_number();
    if (!fields.complete() || gone_.contains(rank)) return;
    Comm& comm = comm_of(context, members_in(fields));
    comm.open[number].emplace(rank, Contribution{operation, flag, acknowledged, child});
    decide(context, comm);
  } else if (frame.kind() == FrameKind::revoke && fields.complete()) {
    // Also for a rank that has failed meanwhile: all ranks receive the decision, or none does.
    Comm& comm = comm_of(context, members_in(fields));
    if (!std::exchange(comm.revoked, true)) tell_(Frame(FrameKind::revoked).add(context));
  } else if (frame.kind() == FrameKind::leave && fields.complete()) {
    const auto found = comms_.find(context);
    if (found == comms_.end()) return;
    found->second.left.insert(rank);
    decide(context, found->second);
  }
}

void Decisions::lose(int rank) {
  if (!gone_.insert(rank).second) return;
  failed_.push_back(rank);
  tell_(Frame(FrameKind::failed).add(rank));
  for (auto next = comms_.begin(); next != comms_.end();) {
    const auto one = next++;  // the call below may remove it
    decide(one->first, one->second);
  }
}

Decisions::Comm& Decisions::comm_of(std::uint64_t context, std::vector<int> members) {
  Comm& comm = comms_[context];
  if (comm.members.empty()) comm.members = std::move(members);
  return comm;
}

// Takes the possible decisions, in order; and drops the communicator when no member needs it any more.
void Decisions::decide(std::uint64_t context, Comm& comm) {
  while (!comm.open.empty() && is_over(comm, comm.open.begin()->second)) {
    const auto first = comm.open.begin();
    tell_(outcome(context, comm, first->first, first->second));
    comm.open.erase(first);
  }
  if (is_used(comm)) return;
  tell_(Frame(FrameKind::forgotten).add(context));
  comms_.erase(context);
}

bool Decisions::is_over(const Comm& comm, const std::map<int, Contribution>& contributions) const {
  return std::all_of(comm.members.begin(), comm.members.end(),
                     [&](int member) { return contributions.contains(member) || gone_.contains(member); });
}

bool Decisions::is_used(const Comm& comm) const {
  return std::any_of(comm.members.begin(), comm.members.end(),
                     [&](int member) { return !comm.left.contains(member) && !gone_.contains(member); });
}

Frame Decisions::outcome(std::uint64_t context, const Comm& comm, std::uint32_t number,
                         const std::map<int, Contribution>& contributions) const {
  using Operation = Contribution::Operation;
  const auto take_part_in = [&](Operation operation) {
    return std::all_of(contributions.begin(), contributions.end(),
                       [&](const auto& one) { return one.second.operation == operation; });
  };
  const bool agrees = take_part_in(Operation::agree);
  Verdict verdict = agrees || take_part_in(Operation::shrink) ? Verdict::fine : Verdict::mixed;
  std::int32_t flag = -1;
  std::uint32_t acknowledged = std::numeric_limits<std::uint32_t>::max();
  for (const auto& [member, contribution] : contributions) {
    flag &= contribution.flag;
    acknowledged = std::min(acknowledged, contribution.acknowledged);
  }
  std::uint32_t position = 0;  // among the failures of the communicator
  for (const int rank : failed_) {
    if (std::find(comm.members.begin(), comm.members.end(), rank) == comm.members.end()) continue;
    if (position++ >= acknowledged && agrees && !contributions.contains(rank)) verdict = Verdict::failed;
  }
  std::uint64_t child = 0;
  for (const int member : comm.members) {
    if (gone_.contains(member)) continue;
    child = contributions.at(member).context;
    break;
  }
  Frame frame(FrameKind::decided);
  frame.add(context).add(number).add(static_cast<std::uint32_t>(verdict)).add(flag);
  return frame.add(static_cast<std::uint32_t>(failed_.size())).add(child);
}

}  // namespace heddle::boot
