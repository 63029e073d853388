#include "coll/shared.hpp"

#include "coll/check.hpp"
#include "coll/state.hpp"

namespace heddle::coll {

namespace {

// The region, if an operation that needs `bytes` in every slot goes this way.
Region* region_for(Comm& comm, std::size_t bytes) {
  if (comm.inter || comm.size == 1 || bytes > Region::large_slot) return nullptr;
  return region_of(comm);
}

void put(const Piece& piece, std::byte* slot) { pack(*piece.type, piece.data, piece.count, 0, slot, piece.bytes()); }
void get(const std::byte* slot, const Piece& piece) {
  unpack(*piece.type, piece.data, piece.count, 0, slot, piece.bytes());
}

// Fills a slot with every operand and reduces them in rank order, so that the result, which the last slot gets, does not
// depend on who came when. True if this member did it, being the last.
bool contribute(Region& region, Comm& comm, const Piece& mine, const Op& op) {
  const std::size_t bytes = mine.bytes();
  put(mine, region.slot(comm.rank, bytes));
  if (!region.arrive()) return false;
  for (int m = 1; m < comm.size; ++m) {
    reduce_local(op, region.slot(m - 1, bytes), region.slot(m, bytes), mine.count, *mine.type);
  }
  return true;
}

// Slots hold the packed stream, which an operation can only be applied to if that is the datatype's layout.
bool reducible_packed(const Datatype& type) { return type.dense && type.true_lb == 0; }

// Everyone's slot has been filled, and everyone may read all.
void meet(Region& region) {
  if (region.arrive()) {
    region.open();
  } else {
    region.await_open();
  }
  region.all_arrived();
}

}  // namespace

Attempt shared_barrier(Comm& comm) {
  Region* region = region_for(comm, 0);
  if (!region) return {};
  region->enter();
  meet(*region);
  region->finish();
  return success;
}

Attempt shared_bcast(Comm& comm, const Piece& message, int root) {
  const std::size_t bytes = message.bytes();
  Region* region = bytes == 0 ? nullptr : region_for(comm, bytes);
  if (!region) return {};
  region->enter();
  Error error;
  if (comm.rank == root) {
    put(message, region->slot(root, bytes));
    region->frame().bytes = bytes;
    region->open();
  } else {
    region->await_open();
    if (const std::size_t sent = region->frame().bytes; sent > bytes) [[unlikely]] {
      error = fail(MPI_ERR_TRUNCATE, "the root broadcast %zu bytes, but the buffer has room for %zu", sent, bytes);
    } else {
      unpack(*message.type, message.data, message.count, 0, region->slot(root, sent), sent);
    }
  }
  region->finish();
  return error;
}

Attempt shared_reduce(Comm& comm, const Piece& mine, const Piece& result, const Op& op, int root) {
  const std::size_t bytes = mine.bytes();
  Region* region = bytes == 0 || !reducible_packed(*mine.type) ? nullptr : region_for(comm, bytes);
  if (!region) return {};
  if (Error e = check_reducible(op, *mine.type)) return e;
  region->enter();
  if (contribute(*region, comm, mine, op)) {
    region->open([root](int m) { return m == root; });
  } else if (comm.rank == root) {
    region->await_open();
  }
  if (comm.rank == root) {
    get(region->slot(comm.size - 1, bytes), result);
    region->all_arrived();
  }
  region->finish();
  return success;
}

Attempt shared_allreduce(Comm& comm, const Piece& mine, const Piece& result, const Op& op) {
  const std::size_t bytes = mine.bytes();
  Region* region = bytes == 0 || !reducible_packed(*mine.type) ? nullptr : region_for(comm, bytes);
  if (!region) return {};
  if (Error e = check_reducible(op, *mine.type)) return e;
  region->enter();
  if (contribute(*region, comm, mine, op)) {
    region->open();
  } else {
    region->await_open();
  }
  get(region->slot(comm.size - 1, bytes), result);
  region->all_arrived();
  region->finish();
  return success;
}

Attempt shared_allgather(Comm& comm, const Piece& mine, const Blocks& all) {
  const std::size_t bytes = all.run(0, 1).bytes();
  Region* region = bytes == 0 ? nullptr : region_for(comm, bytes);
  if (!region) return {};
  const Piece own = all[comm.rank];
  if (own.data != mine.data) {
    if (Error e = check_copy(mine, own)) return e;
  }
  region->enter();
  put(mine, region->slot(comm.rank, bytes));
  meet(*region);
  for (int m = 0; m < comm.size; ++m) {
    const Piece block = all[m];
    if (block.data != mine.data) get(region->slot(m, bytes), block);
  }
  region->finish();
  return success;
}

Attempt shared_alltoall(Comm& comm, const Blocks& from, const Blocks& to) {
  const std::size_t each = to.run(0, 1).bytes();
  const std::size_t bytes = each * static_cast<std::size_t>(comm.size);
  Region* region = bytes == 0 ? nullptr : region_for(comm, bytes);
  if (!region) return {};
  if (from.base != to.base) {
    if (Error e = check_copy(from[comm.rank], to[comm.rank])) return e;
  }
  region->enter();
  put(from.run(0, comm.size), region->slot(comm.rank, bytes));
  meet(*region);
  for (int m = 0; m < comm.size; ++m) {
    get(region->slot(m, bytes) + each * static_cast<std::size_t>(comm.rank), to[m]);
  }
  region->finish();
  return success;
}

}  // namespace heddle::coll
