// Gather and scatter through shared memory, in all variants, in one round whatever the lengths.
//
// With counts only the root knows all lengths, so no common decision may depend on one. Each block decides for itself:
// a label in its member's slot gives its length and place: there, in the member's deposit, or in a message, which the
// two that know the label then send and receive. It is a message also where a deposit would do and there is no memory
// for one.
//
//   gather:   each member labels its block, counts itself in and goes on; the root waits for the last one and reads. Deposits it
//             reads as their members come.
//   scatter:  the root labels all blocks, opens the slot set and goes on; a member that expects a block waits for that and
//             reads.
//
// A member whose call is refused writes that in place of its block, so it stays in step with the others. Every call
// counts as one of the operations by messages, whether or not it has any.
#include <new>

#include "mpi/coll/check.hpp"
#include "mpi/coll/choose.hpp"
#include "mpi/coll/node/shared.hpp"
#include "mpi/coll/state.hpp"

namespace heddle::coll {

namespace {

constexpr Signature gather_signature{Signature::gather, 0};
constexpr Signature scatter_signature{Signature::scatter, 0};

// The first thing in the small slot of a block. A short block lies behind it, a longer one in the large slot or in its
// member's deposit; `taken`: its reader has taken it from there.
struct Label {
  enum class Kind : std::uint8_t { in_slot, deposited, taken, message, refused };
  std::uint64_t bytes;
  Kind kind;
};

// The round, and the blocks in its slots. This member has finished it when this is destroyed, or before.
class OneRound {
 public:
  // Blocks of more than a slot lie in deposits up to so many bytes.
  OneRound(Region& region, std::size_t in_deposit)
      : region_(region),
        in_slot_(choose::block_in_slot(region.one_process(), region.oversubscribed())),
        in_deposit_(in_deposit),
        round_(region.enter()) {}
  ~OneRound() { finish(); }
  OneRound(const OneRound&) = delete;
  OneRound& operator=(const OneRound&) = delete;

  Round number() const { return round_; }
  void finish() {
    if (!finished_) region_.finish(round_);
    finished_ = true;
  }
  Label& label(int member) const { return *std::launder(reinterpret_cast<Label*>(slot(member, sizeof(Label)))); }

  // A block for one reader: packed once, to the place from which the reader unpacks it, if there is one.
  void put(int member, const BufferView& block) const {
    const std::size_t bytes = block.bytes();
    std::byte* to = nullptr;
    if (bytes <= in_slot_)
      to = data(member, bytes);
    else if (bytes <= in_deposit_)
      to = region_.make_deposit(round_, member);
    if (to && bytes != 0) pack(*block.type, block.data, block.count, 0, to, bytes);
    const Label::Kind kind = bytes <= in_slot_ ? Label::Kind::in_slot
                             : to              ? Label::Kind::deposited
                                               : Label::Kind::message;
    new (slot(member, sizeof(Label))) Label{bytes, kind};
  }
  // For the root of a gather: true if a block of the expected length may lie in a deposit. Takes it, if it does and its
  // member has come. False: nothing to take.
  bool may_be_deposited(std::size_t expected) const { return in_deposit_ != 0 && expected > in_slot_; }
  bool take_early(int member, const BufferView& block) const {
    if (!region_.is_filled(round_, member) || !is_deposited(member)) return false;
    get(member, block);
    label(member).kind = Label::Kind::taken;
    return true;
  }
  void put_refusal(int member) const { new (slot(member, sizeof(Label))) Label{0, Label::Kind::refused}; }

  // Takes the block, if it lies here and there is room for it.
  void get(int member, const BufferView& block) const {
    const Label& told = label(member);
    if (told.bytes == 0 || told.bytes > block.bytes()) return;
    const std::byte* from = nullptr;
    if (told.kind == Label::Kind::in_slot) from = data(member, told.bytes);
    if (told.kind == Label::Kind::deposited && told.bytes <= in_deposit_) from = region_.deposit(round_, member);
    if (from) unpack(*block.type, block.data, block.count, 0, from, told.bytes);
  }
  bool is_message(int member) const { return label(member).kind == Label::Kind::message; }
  bool is_deposited(int member) const { return label(member).kind == Label::Kind::deposited; }

  // For the block that `from` has sent to `to`, which expects `expected`; regular ones must have that length.
  Error error_of(int member, int from, int to, std::size_t expected, bool regular) const {
    const Label& told = label(member);
    if (told.kind == Label::Kind::refused)
      return fail(MPI_ERR_OTHER, "rank %d of the communicator sends nothing to rank %d: its arguments are invalid",
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
  std::size_t in_slot_;  // up to so many bytes
  std::size_t in_deposit_;
  Round round_;
  bool finished_ = false;
};

constexpr int unknown_root = -1;  // the root, or none if the refused call does not know it

// Counts this member in. False: it has learned that members disagree. The root alone waits, by `wait()`; a member that
// does not know the root wakes all.
template <class Wait>
bool synchronize(Region& region, Round e, int rank, int root, Wait&& wait) {
  if (region.arrive(e, gather_signature)) {
    const bool agreed = region.agreed();
    region.open(e, agreed ? gather_signature.kind : Signature::none,
                [root, agreed](int m) { return m == root || root == unknown_root || !agreed; });
    return agreed;
  }
  return rank != root || wait();
}

// The root waits until all have come, and takes long blocks as they come. False: members disagree.
bool await_blocks(Region& region, const OneRound& round, const Blocks& all, int root) {
  const int size = region.members().size;
  bool any_long = round.may_be_deposited(all[0].bytes());
  for (int m = 1; m < size && !any_long && !all.is_regular(); ++m) any_long = round.may_be_deposited(all[m].bytes());
  if (!any_long) return region.await_open(round.number(), gather_signature.kind);
  return region.await_open(round.number(), gather_signature.kind, [&] {
    bool any = false;
    for (int m = 0; m < size; ++m) any |= m != root && round.take_early(m, all[m]);
    return any;
  });
}

[[gnu::cold, gnu::noinline]] Error leave(OneRound& round, Region& region, Comm& comm, const Signature& signature) {
  const Round e = round.number();
  round.finish();
  skip_operation(comm, Manner::blocking);
  return disagree(region, comm, e, signature);
}

// The messages of an operation that has some; it counts as one of the communicator's all the same.
template <class Write>
Error by_messages(Comm& comm, bool any, Write&& write) {
  if (!any) return skip_operation(comm, Manner::blocking), success;
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
  OneRound round(*region, choose::gather_in_deposit(region->one_process(), region->oversubscribed()));
  const bool at_root = comm.rank == root;
  if (!at_root) round.put(comm.rank, mine);
  if (!at_root && round.is_deposited(comm.rank)) region->fill(round.number());
  // Its own block the root copies while the others come.
  Error error = at_root && given(mine) ? copy_own(mine, all[root]) : success;
  const bool is_message = !at_root && round.is_message(comm.rank);
  if (!synchronize(*region, round.number(), comm.rank, root, [&] { return await_blocks(*region, round, all, root); }))
      [[unlikely]]
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
  if (Error e = by_messages(comm, messages, [&](const Team& team) {
        for (int m = 0; m < comm.size; ++m)
          if (m != root && round.is_message(m)) team.recv(all[m], m);
      }))
    error = e;
  for (int m = 0; m < comm.size; ++m) {
    if (m == root) continue;
    if (Error e = round.error_of(m, m, root, all[m].bytes(), all.is_regular())) error = e;
  }
  return error;
}

Attempt shared_scatter(Comm& comm, const Blocks& all, const BufferView& mine, int root) {
  Region* region = region_for(comm);
  if (!region) return {};
  OneRound round(*region, choose::scatter_in_deposit(region->oversubscribed()));
  if (comm.rank == root) {
    bool messages = false;
    for (int m = 0; m < comm.size; ++m) {
      if (m == root) continue;
      round.put(m, all[m]);
      messages |= round.is_message(m);
    }
    region->open(round.number(), scatter_signature.kind);
    if (!messages) {
      skip_operation(comm, Manner::blocking);
      return given(mine) ? copy_own(all[root], mine) : success;
    }
    // Its own block the root copies while the others receive theirs.
    const Error error = given(mine) ? check_copy(all[root], mine) : success;
    const Error sent = by_messages(comm, messages, [&](const Team& team) {
      for (int m = 0; m < comm.size; ++m)
        if (m != root && round.is_message(m)) team.send(all[m], m);
      if (given(mine) && !error) team.copy(all[root], mine);
    });
    return error ? error : sent;
  }
  if (mine.empty()) return skip_operation(comm, Manner::blocking), success;
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
    const OneRound round(*region, 0);
    round.put_refusal(comm.rank);
    agreed = synchronize(*region, round.number(), comm.rank, unknown_root, [] { return true; });
  }
  if (!agreed) leave_region(comm);
  skip_operation(comm, Manner::blocking);
}

void refuse_scatter(Comm& comm, int root) {
  if (Region* region = region_for(comm)) {
    const OneRound round(*region, 0);
    if (comm.rank == root) {
      for (int m = 0; m < comm.size; ++m) round.put_refusal(m);
      region->open(round.number(), scatter_signature.kind);
    }
  }
  skip_operation(comm, Manner::blocking);
}

}  // namespace heddle::coll
