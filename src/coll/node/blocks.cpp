// Gather and scatter through shared memory, in all variants, in one round whatever the lengths.
//
// With counts nobody but the root knows all lengths, so nothing that all have to do alike may depend on one. Each block decides for
// itself: a label in its member's slot says how long it is, and whether it lies there or comes as a message, which the two that know its
// label then send and receive.
//
//   gather:   everyone labels its block, counts itself in and goes on; the root waits for the last one and reads.
//   scatter:  the root labels everyone's block, opens the slot set and goes on; whoever expects something waits for that and reads.
//
// A member whose call is refused says so in place of its block, so it stays in step with the others. Every call counts as one of the
// operations by messages, whether or not it has any.
#include <new>

#include "coll/check.hpp"
#include "coll/choose.hpp"
#include "coll/node/shared.hpp"
#include "coll/state.hpp"

namespace heddle::coll {

namespace {

constexpr Signature gather_signature{Signature::gather, 0};
constexpr Signature scatter_signature{Signature::scatter, 0};

// The first thing in the small slot of a block. A short block lies behind it, a longer one in the large slot.
struct Label {
  enum class Kind : std::uint8_t { in_slot, message, refused };
  std::uint64_t bytes;
  Kind kind;
};

// The round, and the blocks in its slots. This member has finished it when this is destroyed, or before.
class OneRound {
 public:
  explicit OneRound(Region& region) : region_(region), round_(region.enter()) {}
  ~OneRound() { finish(); }
  OneRound(const OneRound&) = delete;
  OneRound& operator=(const OneRound&) = delete;

  Round number() const { return round_; }
  void finish() {
    if (!finished_) region_.finish(round_);
    finished_ = true;
  }
  Label& label(int member) const { return *std::launder(reinterpret_cast<Label*>(slot(member, sizeof(Label)))); }

  void put(int member, const BufferView& block) const {
    const std::size_t bytes = block.bytes();
    const bool fits = bytes <= choose::block_in_slot(region_.one_process());
    new (slot(member, sizeof(Label))) Label{bytes, fits ? Label::Kind::in_slot : Label::Kind::message};
    if (fits && bytes != 0) pack(*block.type, block.data, block.count, 0, data(member, bytes), bytes);
  }
  void put_refusal(int member) const { new (slot(member, sizeof(Label))) Label{0, Label::Kind::refused}; }

  // What lies in the slot, if it does and there is room for it.
  void get(int member, const BufferView& block) const {
    const Label& told = label(member);
    if (told.kind == Label::Kind::in_slot && told.bytes != 0 && told.bytes <= block.bytes())
      unpack(*block.type, block.data, block.count, 0, data(member, told.bytes), told.bytes);
  }
  bool is_message(int member) const { return label(member).kind == Label::Kind::message; }

  // Of the block that `from` has sent to `to`, which expects `expected`; regular ones have to be as long as that.
  Error error_of(int member, int from, int to, std::size_t expected, bool regular) const {
    const Label& told = label(member);
    if (told.kind == Label::Kind::refused)
      return fail(MPI_ERR_OTHER,
                  "rank %d of the communicator has got an error for its arguments, so it sends nothing to rank %d",
                  from, to);
    if (told.bytes <= expected && (told.bytes == expected || !regular)) return success;
    return fail(MPI_ERR_TRUNCATE,
                "rank %d of the communicator sends %llu bytes, rank %d expects %zu; do all processes agree on counts "
                "and datatypes?",
                from, static_cast<unsigned long long>(told.bytes), to, expected);
  }

 private:
  static constexpr std::size_t short_block = Region::small_slot - sizeof(Label);

  std::byte* slot(int member, std::size_t bytes) const { return region_.slot(round_, member, bytes); }
  std::byte* data(int member, std::size_t bytes) const {
    return bytes <= short_block ? slot(member, sizeof(Label)) + sizeof(Label) : slot(member, Region::large_slot);
  }

  Region& region_;
  Round round_;
  bool finished_ = false;
};

constexpr int nobody = -1;  // of the members that is the root, as far as one knows whose call is refused

// Counts this member in. False: it has learned that members disagree. The root alone waits; who does not know it wakes everybody.
bool meet(Region& region, Round e, int rank, int root) {
  if (region.arrive(e, gather_signature)) {
    const bool agreed = region.agreed();
    region.open(e, agreed ? gather_signature.kind : Signature::none,
                [root, agreed](int m) { return m == root || root == nobody || !agreed; });
    return agreed;
  }
  return rank != root || region.await_open(e, gather_signature.kind);
}

[[gnu::cold, gnu::noinline]] Error leave(OneRound& round, Region& region, Comm& comm, const Signature& signature) {
  const Round e = round.number();
  round.finish();
  skip_operation(comm, false);
  return disagree(region, comm, e, signature);
}

// The messages of an operation that has some; it counts as one of the communicator's all the same.
template <class Write>
Error by_messages(Comm& comm, bool any, Write&& write) {
  if (!any) return skip_operation(comm, false), success;
  return run(comm, [&](Schedule& schedule) { return write(team_of(schedule)), success; });
}

// The root's own block, between its own buffers.
Error copy_own(const BufferView& from, const BufferView& to) {
  if (Error e = check_copy(from, to)) return e;
  copy(from, to);
  return success;
}

}  // namespace

Attempt shared_gather(Comm& comm, const BufferView& mine, const Blocks& all, int root) {
  Region* region = region_for(comm);
  if (!region) return {};
  OneRound round(*region);
  const bool at_root = comm.rank == root;
  if (!at_root) round.put(comm.rank, mine);
  const bool is_message = !at_root && round.is_message(comm.rank);
  if (!meet(*region, round.number(), comm.rank, root)) [[unlikely]]
    return leave(round, *region, comm, gather_signature);
  if (!at_root) {
    round.finish();
    return by_messages(comm, is_message, [&](const Team& team) { team.send(mine, root); });
  }
  region->all_seen_in(round.number());
  bool messages = false;
  for (int m = 0; m < comm.size; ++m) {
    if (m == root) continue;
    round.get(m, all[m]);
    messages |= round.is_message(m);
  }
  Error error = by_messages(comm, messages, [&](const Team& team) {
    for (int m = 0; m < comm.size; ++m)
      if (m != root && round.is_message(m)) team.recv(all[m], m);
  });
  for (int m = 0; m < comm.size; ++m) {
    if (m == root) continue;
    if (Error e = round.error_of(m, m, root, all[m].bytes(), all.is_regular())) error = e;
  }
  if (given(mine)) {
    if (Error e = copy_own(mine, all[root])) error = e;
  }
  return error;
}

Attempt shared_scatter(Comm& comm, const Blocks& all, const BufferView& mine, int root) {
  Region* region = region_for(comm);
  if (!region) return {};
  OneRound round(*region);
  if (comm.rank == root) {
    bool messages = false;
    for (int m = 0; m < comm.size; ++m) {
      if (m == root) continue;
      round.put(m, all[m]);
      messages |= round.is_message(m);
    }
    region->open(round.number(), scatter_signature.kind);
    Error error = given(mine) ? copy_own(all[root], mine) : success;
    const Error sent = by_messages(comm, messages, [&](const Team& team) {
      for (int m = 0; m < comm.size; ++m)
        if (m != root && round.is_message(m)) team.send(all[m], m);
    });
    return error ? error : sent;
  }
  if (mine.empty()) return skip_operation(comm, false), success;
  if (!region->await_root(round.number(), scatter_signature.kind, root)) [[unlikely]]
    return leave(round, *region, comm, scatter_signature);
  round.get(comm.rank, mine);
  const Error error = by_messages(comm, round.is_message(comm.rank), [&](const Team& team) { team.recv(mine, root); });
  if (Error e = round.error_of(comm.rank, root, comm.rank, mine.bytes(), all.is_regular())) return e;
  return error;
}

void refuse_gather(Comm& comm) {
  Region* region = region_for(comm);
  bool agreed = true;
  if (region) {
    const OneRound round(*region);
    round.put_refusal(comm.rank);
    agreed = meet(*region, round.number(), comm.rank, nobody);
  }
  if (!agreed) leave_region(comm);
  skip_operation(comm, false);
}

void refuse_scatter(Comm& comm, int root) {
  if (Region* region = region_for(comm)) {
    const OneRound round(*region);
    if (comm.rank == root) {
      for (int m = 0; m < comm.size; ++m) round.put_refusal(m);
      region->open(round.number(), scatter_signature.kind);
    }
  }
  skip_operation(comm, false);
}

}  // namespace heddle::coll
