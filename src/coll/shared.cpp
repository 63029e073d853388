#include "coll/shared.hpp"

#include <algorithm>

#include "coll/check.hpp"
#include "coll/choose.hpp"
#include "coll/state.hpp"

namespace heddle::coll {

namespace {

// A message longer than a slot travels in parts, each in a frame of its own. A batch of parts is under way before
// anything is waited for, so a whole batch costs one wait; and half of the frames stay free for the next one.
struct Part {
  std::size_t offset;  // in the packed stream
  std::size_t bytes;
};

class Parts {
 public:
  static constexpr std::size_t batch = Region::frames / 2;

  // `unit` bytes must not be torn apart.
  Parts(std::size_t bytes, std::size_t unit, std::size_t slot = Region::large_slot)
      : bytes_(bytes), step_(unit > slot ? 0 : slot / unit * unit) {}

  // False: it is too much for this way.
  bool fit(std::size_t limit) const { return step_ != 0 && bytes_ <= limit; }
  std::size_t count() const { return (bytes_ + step_ - 1) / step_; }
  Part operator[](std::size_t i) const { return {i * step_, std::min(step_, bytes_ - i * step_)}; }

  // Calls f(first, end) for batch after batch.
  template <class F>
  void for_batches(F&& f) const {
    for (std::size_t i = 0; i < count(); i += batch) f(i, std::min(i + batch, count()));
  }

 private:
  std::size_t bytes_;
  std::size_t step_;
};

Region* region_for(Comm& comm) {
  comm.counters.mine();  // this thread uses the communicator
  return comm.inter || comm.size == 1 ? nullptr : region_of(comm);
}

// A piece that is shorter than it should be leaves the rest of the slot as it is.
void put(const Piece& p, const Part& part, std::byte* slot) {
  const std::size_t there = p.bytes();
  if (part.offset >= there) return;
  pack(*p.type, p.data, p.count, part.offset, slot, std::min(part.bytes, there - part.offset));
}
void get(const std::byte* slot, const Part& part, const Piece& p) {
  unpack(*p.type, p.data, p.count, part.offset, slot, part.bytes);
}

// Each element is `type.size` bytes; slots hold the packed stream, which an operation can only be applied to if that is
// the datatype's layout.
bool reducible_packed(const Datatype& type) { return type.dense && type.true_lb == 0 && type.size > 0; }

// Fills a slot with everyone's operand. The last to come reduces them in rank order, so that the result, which the last
// slot gets, does not depend on who came when; then it lets those read who wait.
template <class Waits>
void contribute(Region& region, Comm& comm, const Piece& mine, const Part& part, const Op& op, Waits&& waits) {
  const Epoch e = region.enter();
  put(mine, part, region.slot(e, comm.rank, part.bytes));
  if (!region.arrive(e)) return;
  const MPI_Count count = static_cast<MPI_Count>(part.bytes) / mine.type->size;
  for (int m = 1; m < comm.size; ++m) {
    reduce_local(op, region.slot(e, m - 1, part.bytes), region.slot(e, m, part.bytes), count, *mine.type);
  }
  region.open(e, waits);
}

// Reads what everyone together has put into the frames of a batch that began after epoch `before`, by f(epoch, part).
template <class F>
void collect(Region& region, Epoch before, const Parts& parts, std::size_t first, std::size_t end, F&& f) {
  Epoch e = before;
  for (std::size_t i = first; i < end; ++i) {
    region.await_open(++e);
    f(e, parts[i]);
  }
  region.all_seen_in(before + 1);
  region.finish(e);
}

// The reduction for those that want its result, who are at least `waits`.
template <class Waits>
void reduce_parts(Region& region, Comm& comm, const Piece& mine, const Piece& result, const Parts& parts, const Op& op,
                  Waits&& waits) {
  parts.for_batches([&](std::size_t first, std::size_t end) {
    const Epoch before = region.last_entered();
    for (std::size_t i = first; i < end; ++i) contribute(region, comm, mine, parts[i], op, waits);
    if (!waits(comm.rank)) return region.finish(region.last_entered());
    collect(region, before, parts, first, end,
            [&](Epoch e, const Part& part) { get(region.slot(e, comm.size - 1, part.bytes), part, result); });
  });
}

}  // namespace

Attempt shared_barrier(Comm& comm) {
  Region* region = region_for(comm);
  if (!region) return {};
  const Epoch e = region->enter();
  if (region->arrive(e)) {
    region->open(e);
  } else {
    region->await_open(e);
  }
  region->all_seen_in(e);
  region->finish(e);
  return success;
}

Attempt shared_bcast(Comm& comm, const Piece& message, int root) {
  const std::size_t bytes = message.bytes();
  Parts parts(bytes, 1);
  Region* region = bytes > 0 ? region_for(comm) : nullptr;
  if (!region || !parts.fit(choose::shared_bcast(comm.size))) return {};
  if (comm.rank == root) {
    for (std::size_t i = 0; i < parts.count(); ++i) {
      const Epoch e = region->enter();
      put(message, parts[i], region->slot(e, root, parts[i].bytes));
      region->frame(e).bytes = bytes;
      region->open(e);
      region->finish(e);
    }
    return success;
  }
  // The root decides how much there is; what is too much is passed over and reported.
  Error error;
  for (std::size_t i = 0; i < parts.count(); ++i) {
    const Epoch e = region->enter();
    region->await_open(e);
    const std::size_t sent = region->frame(e).bytes;
    parts = Parts(sent, 1);
    if (sent > bytes) [[unlikely]] {
      error = fail(MPI_ERR_TRUNCATE, "the root broadcast %zu bytes, but the buffer has room for %zu", sent, bytes);
    } else {
      get(region->slot(e, root, parts[i].bytes), parts[i], message);
    }
    region->finish(e);
  }
  return error;
}

Attempt shared_reduce(Comm& comm, const Piece& mine, const Piece& result, const Op& op, int root) {
  if (mine.empty() || !reducible_packed(*mine.type)) return {};
  const Parts parts(mine.bytes(), static_cast<std::size_t>(mine.type->size));
  Region* region = region_for(comm);
  if (!region || !parts.fit(choose::shared_reduce(comm.size, region->crowded()))) return {};
  if (Error e = check_reducible(op, *mine.type)) return e;
  reduce_parts(*region, comm, mine, result, parts, op, [root](int m) { return m == root; });
  return success;
}

Attempt shared_allreduce(Comm& comm, const Piece& mine, const Piece& result, const Op& op) {
  if (mine.empty() || !reducible_packed(*mine.type)) return {};
  const Parts parts(mine.bytes(), static_cast<std::size_t>(mine.type->size));
  Region* region = region_for(comm);
  if (!region || !parts.fit(choose::shared_reduce(comm.size, region->crowded()))) return {};
  if (Error e = check_reducible(op, *mine.type)) return e;
  reduce_parts(*region, comm, mine, result, parts, op, [](int) { return true; });
  return success;
}

Attempt shared_allgather(Comm& comm, const Piece& mine, const Blocks& all) {
  const Piece own = all[comm.rank];
  const std::size_t bytes = own.bytes();
  const Parts parts(bytes, 1);
  Region* region = bytes > 0 ? region_for(comm) : nullptr;
  if (!region || !parts.fit(choose::shared_allgather(region->crowded()))) return {};
  const bool in_place = own.data == mine.data;
  if (!in_place) {
    if (Error e = check_copy(mine, own)) return e;
  }
  parts.for_batches([&](std::size_t first, std::size_t end) {
    const Epoch before = region->last_entered();
    for (std::size_t i = first; i < end; ++i) {
      const Epoch e = region->enter();
      put(mine, parts[i], region->slot(e, comm.rank, parts[i].bytes));
      if (region->arrive(e)) region->open(e);
    }
    collect(*region, before, parts, first, end, [&](Epoch e, const Part& part) {
      for (int m = 0; m < comm.size; ++m) {
        if (m != comm.rank || !in_place) get(region->slot(e, m, part.bytes), part, all[m]);
      }
    });
  });
  return success;
}

Attempt shared_alltoall(Comm& comm, const Blocks& from, const Blocks& to) {
  const std::size_t each = to.run(0, 1).bytes();
  const auto size = static_cast<std::size_t>(comm.size);
  const Parts parts(each, 1, Region::large_slot / size);  // of every block
  Region* region = each > 0 ? region_for(comm) : nullptr;
  if (!region || !parts.fit(choose::shared_alltoall(region->crowded()))) return {};
  if (from.base != to.base) {
    if (Error e = check_copy(from[comm.rank], to[comm.rank])) return e;
  }
  parts.for_batches([&](std::size_t first, std::size_t end) {
    const Epoch before = region->last_entered();
    for (std::size_t i = first; i < end; ++i) {
      const Part part = parts[i];
      const Epoch e = region->enter();
      std::byte* slot = region->slot(e, comm.rank, part.bytes * size);
      for (int m = 0; m < comm.size; ++m) put(from[m], part, slot + part.bytes * static_cast<std::size_t>(m));
      if (region->arrive(e)) region->open(e);
    }
    collect(*region, before, parts, first, end, [&](Epoch e, const Part& part) {
      const std::size_t mine = part.bytes * static_cast<std::size_t>(comm.rank);
      for (int m = 0; m < comm.size; ++m) get(region->slot(e, m, part.bytes * size) + mine, part, to[m]);
    });
  });
  return success;
}

}  // namespace heddle::coll
