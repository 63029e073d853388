#include "mpi/coll/stages.hpp"

#include <new>

#include "mpi/coll/check.hpp"
#include "mpi/coll/choose.hpp"
#include "mpi/coll/leaders.hpp"
#include "mpi/coll/node/steps.hpp"
#include "mpi/coll/state.hpp"

namespace heddle::coll {

namespace {

using by_leaders::Teams;
using Waiting = Steps::Waiting;

struct Here {
  const Nodes* nodes;
  Region* region;  // null: not by stages here
};

Here here(Comm& comm) {
  try {
    const Nodes* nodes = nodes_of(comm);
    return {nodes, nodes ? node_region_of(comm, *nodes) : nullptr};
  } catch (const std::bad_alloc&) {
    skip_operation(comm, Manner::blocking);  // the others count it
    throw;
  }
}

// The leader's part between nodes, also where its own node disagrees: other nodes wait for it. It is one operation for
// all members.
template <class Write>
Error between(Comm& comm, Steps& steps, Write&& write) {
  if (!steps.leads()) return skip_operation(comm, Manner::blocking), success;
  const Error error = run(comm, [&](Schedule& schedule) { return write(schedule), success; });
  if (error) steps.fail_here();
  return error;
}

Error outcome(const Steps& steps, Error error) { return error || steps.agreed() ? error : steps.disagreement(); }

void put(const BufferView& p, std::byte* slot) { pack(*p.type, p.data, p.count, 0, slot, p.bytes()); }
void get(const std::byte* slot, std::size_t bytes, const BufferView& p) {
  unpack(*p.type, p.data, p.count, 0, slot, bytes);
}

// By messages; but all wait until all agree, for one may choose otherwise.
bool all_go_by_messages(Steps& steps) {
  steps.up(Waiting::everyone);
  if (steps.agreed()) steps.pass();
  return steps.agreed();
}

Attempt reduce(Comm& comm, const BufferView& mine, const BufferView& result, const Op& op, Signature::Kind kind,
               int root) {
  const Here h = here(comm);
  if (!h.region || !by_leaders::may_reduce(*h.nodes, op)) return {};
  const Datatype& type = *mine.type;
  if (Error e = check_reducible(op, type)) {
    skip_operation(comm, Manner::blocking);
    return e;
  }
  const Signature signature{kind, mine.bytes()};
  const bool in_memory =
      choose::through_node_memory(signature.bytes) && type.dense && type.true_lb == 0 && type.size > 0;
  Steps steps(*h.region, signature, by_leaders::leader_of(*h.nodes, root));
  const int last = h.region->members().size - 1;
  if (!in_memory) {
    if (all_go_by_messages(steps)) return {};
  } else {
    steps.up(
        Waiting::leader, [&](std::byte* slot) { put(mine, slot); },
        [&] {
          for (int m = 1; m <= last; ++m) reduce_local(op, steps.slot(m - 1), steps.slot(m), mine.count, type);
        });
  }
  const bool reduced = in_memory && steps.agreed();
  const Error error = between(comm, steps, [&](Schedule& schedule) {
    if (mine.count == 0) return;
    schedule.set_op(op);
    const Teams teams(schedule, *h.nodes, root);
    const BufferView ours = reduced ? piece(steps.slot(last), mine.count, type) : mine;
    if (root == by_leaders::no_root) return coll::allreduce(teams.leaders, ours, result);
    coll::reduce(teams.leaders, ours, comm.rank == root ? result : none, teams.root);
  });
  if (root == by_leaders::no_root) {
    steps.down(
        signature.bytes, [&](std::byte* slot) { put(result, slot); },
        [&](const std::byte* slot, std::size_t bytes) { get(slot, bytes, result); });
  } else {
    steps.pass();
  }
  return outcome(steps, error);
}

}  // namespace

Attempt staged_barrier(Comm& comm) {
  const Here h = here(comm);
  if (!h.region) return {};
  Steps steps(*h.region, {Signature::barrier, 0}, by_leaders::leader_of(*h.nodes));
  steps.up(Waiting::leader);
  const Error error =
      between(comm, steps, [&](Schedule& schedule) { coll::barrier(Teams(schedule, *h.nodes).leaders); });
  steps.down();
  return outcome(steps, error);
}

// The leader's length decides the way inside a node. Lengths are not compared in the first round: a receiver may have
// room for more.
Attempt staged_bcast(Comm& comm, const BufferView& message, int root) {
  const Here h = here(comm);
  if (!h.region) return {};
  const std::size_t room = message.bytes();
  Steps steps(*h.region, {Signature::bcast, 0}, by_leaders::leader_of(*h.nodes, root));
  steps.up(Waiting::none);
  Error error;
  if (steps.leads() && (choose::through_node_memory(room) || !steps.agreed()))
    error = between(comm, steps, [&](Schedule& schedule) {
      const Teams teams(schedule, *h.nodes, root);
      bcast(teams.leaders, message, teams.root);
    });
  std::size_t told = 0;
  steps.down(
      room, [&](std::byte* slot) { put(message, slot); },
      [&](const std::byte* slot, std::size_t bytes) {
        told = bytes;
        if (slot && bytes <= room) get(slot, bytes, message);
      });
  if (steps.agreed() && !choose::through_node_memory(steps.leads() ? room : told)) return {};
  if (steps.leads()) return outcome(steps, error);
  skip_operation(comm, Manner::blocking);
  if (told > room)
    return fail(MPI_ERR_TRUNCATE, "the root broadcast %zu bytes, but the buffer has room for %zu", told, room);
  if (steps.agreed()) return success;
  return fail(
      MPI_ERR_TRUNCATE,
      "rank %d, the leader of this node, has received another message than it expects; do all processes agree on "
      "counts and datatypes?",
      by_leaders::rank_of_leader(*h.nodes, root));
}

Attempt staged_reduce(Comm& comm, const BufferView& mine, const BufferView& result, const Op& op, int root) {
  return reduce(comm, mine, result, op, Signature::reduce, root);
}

Attempt staged_allreduce(Comm& comm, const BufferView& mine, const BufferView& result, const Op& op) {
  return reduce(comm, mine, result, op, Signature::allreduce, by_leaders::no_root);
}

Attempt staged_allgather(Comm& comm, const BufferView& mine, const Blocks& all) {
  const Here h = here(comm);
  if (!h.region) return {};
  const BufferView own = all[comm.rank];
  const BufferView everything = all.run(0, comm.size);
  Steps steps(*h.region, {Signature::allgather, own.bytes()}, by_leaders::leader_of(*h.nodes));
  Error refused;  // only the own part is wrong: the others get theirs
  if (!choose::through_node_memory(everything.bytes())) {
    if (all_go_by_messages(steps)) return {};
  } else {
    if (own.data != mine.data) refused = check_copy(mine, own);
    if (own.data != mine.data && refused.code() != MPI_ERR_BUFFER) copy(mine, own);
    steps.up(
        Waiting::leader, [&](std::byte* slot) { put(own, slot); }, [] {});
  }
  if (steps.leads() && steps.agreed()) {
    for (int m = 0; m < h.region->members().size; ++m)
      if (m != h.region->members().rank) get(steps.slot(m), own.bytes(), all[h.region->members().in_comm(m)]);
  }
  Error error = between(comm, steps, [&](Schedule& schedule) {
    if (!everything.empty()) by_leaders::exchange_blocks(Teams(schedule, *h.nodes), *h.nodes, all);
  });
  steps.down(
      everything.bytes(), [&](std::byte* slot) { put(everything, slot); },
      [&](const std::byte* slot, std::size_t bytes) {
        if (slot) get(slot, bytes, everything);
      });
  return outcome(steps, error ? error : refused);
}

}  // namespace heddle::coll
