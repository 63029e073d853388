#include "mpi/coll/node/shared.hpp"

#include <algorithm>
#include <cstring>

#include "mpi/coll/check.hpp"
#include "mpi/coll/choose.hpp"
#include "mpi/coll/node/direct.hpp"
#include "mpi/coll/node/far.hpp"
#include "mpi/coll/state.hpp"

namespace heddle::coll {

namespace {

// A message longer than a slot travels in parts, each in a slot set of its own. A batch of parts is in progress before
// any wait, so a whole batch costs one wait; and half of the slot sets stay free for the next one.
struct Part {
  std::size_t offset;  // in the packed stream
  std::size_t bytes;
};

class Parts {
 public:
  static constexpr std::size_t batch = Region::slot_sets / 2;

  // `unit` bytes must not be split.
  Parts(std::size_t bytes, std::size_t unit, std::size_t slot = Region::large_slot)
      : bytes_(bytes), step_(unit > slot ? 0 : slot / unit * unit) {}

  // False: the message is too long for shared memory.
  bool fit(std::size_t limit) const { return step_ != 0 && bytes_ <= limit; }
  std::size_t count() const { return (bytes_ + step_ - 1) / step_; }
  Part operator[](std::size_t i) const { return {i * step_, std::min(step_, bytes_ - i * step_)}; }

  // Calls f(first, end) for batch after batch, until one fails.
  template <class F>
  Error for_batches(F&& f) const {
    for (std::size_t i = 0; i < count(); i += batch)
      if (Error e = f(i, std::min(i + batch, count()))) return e;
    return success;
  }

 private:
  std::size_t bytes_;
  std::size_t step_;
};

// A piece that is shorter than it should be leaves the rest of the slot as it is.
void put(const BufferView& p, const Part& part, std::byte* slot) {
  const std::size_t there = p.bytes();
  if (part.offset >= there) return;
  pack(*p.type, p.data, p.count, part.offset, slot, std::min(part.bytes, there - part.offset));
}
void get(const std::byte* slot, const Part& part, const BufferView& p) {
  unpack(*p.type, p.data, p.count, part.offset, slot, part.bytes);
}

// The slot of the root of a large broadcast, for ranks of the same process.
struct Shown {
  const BufferView* message;
};

// Each element is `type.size` bytes; slots hold the packed stream, which an operation can only be applied to if that is
// the datatype's layout.
bool reducible_packed(const Datatype& type) { return type.dense && type.true_lb == 0 && type.size > 0; }

// An operation that is too long for shared memory, or empty: it goes by messages, but its members count themselves in
// like the others, for one of them may choose otherwise. No member waits here; the last to come knows.
Attempt by_messages(Region& region, Comm& comm, const Signature& signature) {
  const Round e = region.enter();
  region.note(e, signature);
  const bool agreed = !region.arrive(e, signature) || region.agreed();
  if (!agreed) region.open(e, Signature::none);  // for those that wait here
  region.finish(e);
  if (!agreed) return disagree(region, comm, e, signature);
  return {};
}

// In a broadcast no member is counted. A member that goes by messages leaves a mark, and so does the root where it does
// not; one of them sees the other's, except when both are made at the same moment.
Attempt broadcast_by_messages(Region& region, Comm& comm, std::size_t bytes) {
  const Signature signature{Signature::bcast, bytes};
  const Round e = region.enter();
  region.note(e, signature);
  const bool astray = region.stray(e);
  region.finish(e);
  if (astray) return disagree(region, comm, e, signature);
  return {};
}

// Fills a slot with each operand. The last to come reduces them in rank order, so that the result does not depend on
// the order of arrival: the last slot gets that of all, and in a scan each slot the reduction up to its member. Then it
// lets the waiting members read. False: the members disagree.
template <class Waits>
bool contribute(Region& region, Comm& comm, const BufferView& mine, const Part& part, const Signature& signature,
                const Op& op, Waits&& waits) {
  const Round e = region.enter();
  put(mine, part, region.slot(e, comm.rank, part.bytes));
  if (!region.arrive(e, signature)) return true;
  if (!region.agreed()) [[unlikely]]
    return region.open(e, Signature::none), false;
  const MPI_Count count = static_cast<MPI_Count>(part.bytes) / mine.type->size;
  if (signature.kind == Signature::scan || signature.kind == Signature::exscan) {
    for (int m = 1; m < comm.size; ++m)
      reduce_local(op, region.slot(e, m - 1, part.bytes), region.slot(e, m, part.bytes), count, *mine.type);
  } else {
    std::byte* const sum = region.slot(e, comm.size - 1, part.bytes);
    for (int m = comm.size - 2; m >= 0; --m) reduce_local(op, region.slot(e, m, part.bytes), sum, count, *mine.type);
  }
  region.open(e, signature.kind, waits);
  return true;
}

// Reads the joint result in the slot sets of a batch that began after round `before`, by f(round, part).
template <class F>
Error collect(Region& region, Comm& comm, Round before, const Parts& parts, std::size_t first, std::size_t end,
              const Signature& signature, F&& f) {
  Round e = before;
  for (std::size_t i = first; i < end; ++i) {
    if (!region.await_open(++e, signature.kind)) [[unlikely]]
      return disagree(region, comm, e, signature);
    f(e, parts[i]);
  }
  region.all_seen_in(before + 1);
  region.finish(e);
  return success;
}

// The reduction of members up to `last` for those that want their result, which are at least `waits`.
template <class Waits>
Error reduce_parts(Region& region, Comm& comm, const BufferView& mine, const BufferView& result, const Parts& parts,
                   const Signature& signature, const Op& op, int last, Waits&& waits) {
  return parts.for_batches([&](std::size_t first, std::size_t end) {
    const Round before = region.last_entered();
    for (std::size_t i = first; i < end; ++i) {
      if (!contribute(region, comm, mine, parts[i], signature, op, waits)) [[unlikely]]
        return disagree(region, comm, region.last_entered(), signature);
    }
    if (!waits(comm.rank)) return region.finish(region.last_entered()), success;
    return collect(region, comm, before, parts, first, end, signature,
                   [&](Round e, const Part& part) { get(region.slot(e, last, part.bytes), part, result); });
  });
}

// The result of a large operation between ranks of one process.
Attempt directly(bool agreed, Region& region, Comm& comm, const Signature& signature) {
  if (!agreed) [[unlikely]]
    return disagree(region, comm, region.last_entered(), signature);
  return success;
}

// True if members that are processes access each other's buffers for so many bytes. Only when oversubscribed.
bool goes_far(const Region& region, std::size_t bytes, std::size_t from) {
  return !region.one_process() && region.oversubscribed() && bytes >= from;
}

// The reduction in shared memory, if it is suitable. `root`: the member that gets the result, or every_member.
Attempt reduce(Comm& comm, const BufferView& mine, const BufferView& result, const Op& op, Signature::Kind kind,
               int root) {
  Region* region = region_for(comm);
  if (!region) return {};
  const Signature signature{kind, mine.bytes()};
  if (region->one_process() && signature.bytes >= choose::direct_reduce(region->oversubscribed()) &&
      directly_reducible(*mine.type)) {
    if (Error e = check_reducible(op, *mine.type)) return e;
    return directly(direct_reduce(*region, comm, mine, result, signature, op, root), *region, comm, signature);
  }
  if (mine.empty() || !reducible_packed(*mine.type)) return by_messages(*region, comm, signature);
  const Parts parts(signature.bytes, static_cast<std::size_t>(mine.type->size));
  const bool oversubscribed = region->oversubscribed();
  if (!parts.fit(root == every_member ? choose::shared_allreduce(comm.size, oversubscribed)
                                      : choose::shared_reduce(comm.size, oversubscribed)))
    return by_messages(*region, comm, signature);
  if (Error e = check_reducible(op, *mine.type)) return e;
  return reduce_parts(*region, comm, mine, result, parts, signature, op, comm.size - 1,
                      [root](int m) { return root == every_member || m == root; });
}

}  // namespace

Attempt shared_barrier(Comm& comm) {
  Region* region = region_for(comm);
  if (!region) return {};
  constexpr Signature signature{Signature::barrier, 0};
  const Round e = region->enter();
  bool agreed = true;
  if (region->arrive(e, signature)) {
    agreed = region->agreed();
    region->open(e, agreed ? signature.kind : Signature::none);
  } else {
    agreed = region->await_open(e, signature.kind);
  }
  if (!agreed) [[unlikely]]
    return disagree(*region, comm, e, signature);
  region->all_seen_in(e);
  region->finish(e);
  return success;
}

Attempt shared_bcast(Comm& comm, const BufferView& message, int root) {
  const std::size_t bytes = message.bytes();
  Parts parts(bytes, 1);
  Region* region = region_for(comm);
  if (!region) return {};
  const auto is_direct = [&](std::size_t n) { return region->one_process() && choose::direct_bcast(n, comm.size); };
  if (bytes == 0 || (!parts.fit(choose::shared_bcast(comm.size, region->oversubscribed())) && !is_direct(bytes)))
    return broadcast_by_messages(*region, comm, bytes);
  const Signature signature{Signature::bcast, bytes};
  if (comm.rank == root && is_direct(bytes)) {
    const Round e = region->enter();
    const Shown shown{&message};
    std::memcpy(region->slot(e, root, sizeof shown), &shown, sizeof shown);
    region->slot_set(e).bytes = bytes;
    region->open(e, signature.kind);
    region->finish(e);
    if (!region->await_readers(e)) [[unlikely]]
      return disagree(*region, comm, e, signature);
    return success;
  }
  if (comm.rank == root) {
    for (std::size_t i = 0; i < parts.count(); ++i) {
      const Round e = region->enter();
      put(message, parts[i], region->slot(e, root, parts[i].bytes));
      region->slot_set(e).bytes = bytes;
      region->open(e, signature.kind);
      if (region->strayed(e)) [[unlikely]]
        return disagree(*region, comm, e, signature);
      region->finish(e);
    }
    return success;
  }
  // The root decides the length, and so the way; excess is skipped. A member that expects another length gets an error.
  Error error;
  for (std::size_t i = 0; i < parts.count(); ++i) {
    const Round e = region->enter();
    if (!region->await_root(e, signature.kind, root)) [[unlikely]]
      return disagree(*region, comm, e, signature);
    const std::size_t sent = region->slot_set(e).bytes;
    parts = Parts(is_direct(sent) ? 1 : sent, 1);
    if (sent != bytes) [[unlikely]]
      error = region->disagreement(e, signature);
    if (is_direct(sent) && sent <= bytes) {
      Shown shown;
      std::memcpy(&shown, region->slot(e, root, sizeof shown), sizeof shown);
      copy(*shown.message, message);
    } else if (sent <= bytes) {
      get(region->slot(e, root, parts[i].bytes), parts[i], message);
    }
    region->finish(e);
  }
  return error;
}

Attempt shared_reduce(Comm& comm, const BufferView& mine, const BufferView& result, const Op& op, int root) {
  return reduce(comm, mine, result, op, Signature::reduce, root);
}

Attempt shared_allreduce(Comm& comm, const BufferView& mine, const BufferView& result, const Op& op) {
  return reduce(comm, mine, result, op, Signature::allreduce, every_member);
}

Attempt shared_reduce_scatter(Comm& comm, const BufferView& mine, MPI_Count first, const BufferView& result,
                              const Op& op) {
  Region* region = region_for(comm);
  if (!region) return {};
  const Signature signature{Signature::reduce_scatter, mine.bytes()};
  if (mine.empty() || !reducible_packed(*mine.type)) return by_messages(*region, comm, signature);
  const auto unit = static_cast<std::size_t>(mine.type->size);
  const Parts parts(signature.bytes, unit);
  if (!parts.fit(choose::shared_reduce_scatter(comm.size, region->oversubscribed())))
    return by_messages(*region, comm, signature);
  if (Error e = check_reducible(op, *mine.type)) return e;
  if (goes_far(*region, signature.bytes / static_cast<std::size_t>(comm.size), choose::far_reduce_scatter)) {
    if (Attempt done = far_reduce_scatter(*region, comm, mine, first, result, signature, op)) return done;
  }
  const std::size_t begin = static_cast<std::size_t>(first) * unit, end = begin + result.bytes();
  return parts.for_batches([&](std::size_t first_part, std::size_t end_part) {
    const Round before = region->last_entered();
    for (std::size_t i = first_part; i < end_part; ++i) {
      if (!contribute(*region, comm, mine, parts[i], signature, op, [](int) { return true; })) [[unlikely]]
        return disagree(*region, comm, region->last_entered(), signature);
    }
    return collect(*region, comm, before, parts, first_part, end_part, signature, [&](Round e, const Part& part) {
      const std::size_t from = std::max(begin, part.offset), to = std::min(end, part.offset + part.bytes);
      if (from < to)
        get(region->slot(e, comm.size - 1, part.bytes) + (from - part.offset), {from - begin, to - from}, result);
    });
  });
}

// The last to come leaves in each slot the reduction of all operands up to that member's.
Attempt shared_scan(Comm& comm, const BufferView& mine, const BufferView& result, const Op& op, bool inclusive) {
  Region* region = region_for(comm);
  if (!region) return {};
  const Signature signature{inclusive ? Signature::scan : Signature::exscan, mine.bytes()};
  if (mine.empty() || !reducible_packed(*mine.type)) return by_messages(*region, comm, signature);
  const Parts parts(signature.bytes, static_cast<std::size_t>(mine.type->size));
  if (!parts.fit(choose::shared_scan(comm.size, region->oversubscribed())))
    return by_messages(*region, comm, signature);
  if (Error e = check_reducible(op, *mine.type)) return e;
  const auto waits = [](int m) { return m != 0; };  // the first has its result
  if (comm.rank == 0 && inclusive && mine.data != result.data) copy(mine, result);
  return reduce_parts(*region, comm, mine, result, parts, signature, op, inclusive ? comm.rank : comm.rank - 1, waits);
}

Attempt shared_allgather(Comm& comm, const BufferView& mine, const Blocks& all) {
  const BufferView own = all[comm.rank];
  const std::size_t bytes = own.bytes();
  const Parts parts(bytes, 1);
  const Signature signature{Signature::allgather, bytes};
  Region* region = region_for(comm);
  if (!region) return {};
  const bool direct = region->one_process() && bytes >= choose::direct_allgather(region->oversubscribed());
  if (bytes == 0 || (!direct && !parts.fit(choose::shared_allgather(comm.size, region->oversubscribed()))))
    return by_messages(*region, comm, signature);
  const bool in_place = own.data == mine.data;
  if (!in_place) {
    if (Error e = check_copy(mine, own)) return e;
  }
  if (direct) return directly(direct_allgather(*region, comm, mine, all, signature), *region, comm, signature);
  if (goes_far(*region, bytes, choose::far_allgather(comm.size))) {
    if (Attempt done = far_allgather(*region, comm, mine, all, signature)) return done;
  }
  return parts.for_batches([&](std::size_t first, std::size_t end) {
    const Round before = region->last_entered();
    for (std::size_t i = first; i < end; ++i) {
      const Round e = region->enter();
      put(mine, parts[i], region->slot(e, comm.rank, parts[i].bytes));
      if (region->arrive(e, signature)) region->open(e, region->agreed() ? signature.kind : Signature::none);
    }
    return collect(*region, comm, before, parts, first, end, signature, [&](Round e, const Part& part) {
      for (int m = 0; m < comm.size; ++m) {
        if (m != comm.rank || !in_place) get(region->slot(e, m, part.bytes), part, all[m]);
      }
    });
  });
}

Attempt shared_alltoall(Comm& comm, const Blocks& from, const Blocks& to) {
  const std::size_t each = to.run(0, 1).bytes();
  const auto size = static_cast<std::size_t>(comm.size);
  const Parts parts(each, 1, Region::large_slot / size);  // of every block
  const Signature signature{Signature::alltoall, each};
  Region* region = region_for(comm);
  if (!region) return {};
  const bool in_place = from.base == to.base;
  const bool direct = region->one_process() && !in_place && each >= choose::direct_alltoall(region->oversubscribed());
  if (each != 0 && goes_far(*region, each, choose::far_alltoall)) {
    if (Error e = in_place ? success : check_copy(from[comm.rank], to[comm.rank])) return e;
    if (Attempt done = far_alltoall(*region, comm, from, to, signature)) return done;
  }
  if (each == 0 || (!direct && !parts.fit(choose::shared_alltoall(comm.size, region->oversubscribed()))))
    return by_messages(*region, comm, signature);
  if (!in_place) {
    if (Error e = check_copy(from[comm.rank], to[comm.rank])) return e;
  }
  if (direct) return directly(direct_alltoall(*region, comm, from, to, signature), *region, comm, signature);
  return parts.for_batches([&](std::size_t first, std::size_t end) {
    const Round before = region->last_entered();
    for (std::size_t i = first; i < end; ++i) {
      const Part part = parts[i];
      const Round e = region->enter();
      std::byte* slot = region->slot(e, comm.rank, part.bytes * size);
      for (int m = 0; m < comm.size; ++m) put(from[m], part, slot + part.bytes * static_cast<std::size_t>(m));
      if (region->arrive(e, signature)) region->open(e, region->agreed() ? signature.kind : Signature::none);
    }
    return collect(*region, comm, before, parts, first, end, signature, [&](Round e, const Part& part) {
      const std::size_t mine = part.bytes * static_cast<std::size_t>(comm.rank);
      for (int m = 0; m < comm.size; ++m) get(region->slot(e, m, part.bytes * size) + mine, part, to[m]);
    });
  });
}

}  // namespace heddle::coll
