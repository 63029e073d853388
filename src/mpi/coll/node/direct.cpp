#include "mpi/coll/node/direct.hpp"

#include <algorithm>
#include <cstring>

#include "mpi/coll/node/buffer_exchange.hpp"

namespace heddle::coll {

namespace {

constexpr std::size_t block_bytes = 4096;  // of a slice at a time: stays in the nearest cache, and on a small stack

struct Operand {
  BufferView mine;
  BufferView result;
};

std::byte* element(const BufferView& piece, MPI_Count i) {
  return static_cast<std::byte*>(BufferView::at(piece.data, i * piece.type->size));
}

// Elements [first, first + n) of all operands into the results, in rank order from the last to the first.
void reduce_block(const BufferExchange<Operand>& members, const Comm& comm, const Op& op, const Datatype& type,
                  MPI_Count first, MPI_Count n, int root) {
  alignas(64) std::byte sum[block_bytes];
  const std::size_t bytes = packed_size(type, n);
  std::memcpy(sum, element(members.of(comm.size - 1).mine, first), bytes);
  for (int m = comm.size - 2; m >= 0; --m) reduce_local(op, element(members.of(m).mine, first), sum, n, type);
  if (root != every_member) {
    std::memcpy(element(members.of(root).result, first), sum, bytes);
    return;
  }
  for (int m = 0; m < comm.size; ++m) std::memcpy(element(members.of(m).result, first), sum, bytes);
}

}  // namespace

bool directly_reducible(const Datatype& type) {
  return type.dense && type.true_lb == 0 && type.size > 0 && static_cast<std::size_t>(type.size) <= block_bytes;
}

bool direct_reduce(Region& region, const Comm& comm, const BufferView& mine, const BufferView& result,
                   const Signature& signature, const Op& op, int root) {
  const Operand operand{mine, result};
  BufferExchange<Operand> members(region, signature);
  if (!members.begin(operand)) return false;
  const Datatype& type = *mine.type;
  const MPI_Count block = static_cast<MPI_Count>(block_bytes) / type.size;
  const MPI_Count blocks = (mine.count + block - 1) / block;
  const MPI_Count end = blocks * (comm.rank + 1) / comm.size;
  for (MPI_Count b = blocks * comm.rank / comm.size; b < end; ++b)
    reduce_block(members, comm, op, type, b * block, std::min(block, mine.count - b * block), root);
  members.synchronize_again();
  members.end();
  return true;
}

bool direct_allgather(Region& region, const Comm& comm, const BufferView& mine, const Blocks& all,
                      const Signature& signature) {
  BufferExchange<BufferView> members(region, signature);
  if (!members.begin(mine)) return false;
  // From the own block on, so that not all read the same one.
  for (int i = 0; i < comm.size; ++i) {
    const int m = (comm.rank + i) % comm.size;
    if (m != comm.rank || all[m].data != mine.data) copy(members.of(m), all[m]);
  }
  members.synchronize_again();
  members.end();
  return true;
}

bool direct_alltoall(Region& region, const Comm& comm, const Blocks& from, const Blocks& to,
                     const Signature& signature) {
  BufferExchange<Blocks> members(region, signature);
  if (!members.begin(from)) return false;
  for (int i = 0; i < comm.size; ++i) {
    const int m = (comm.rank + i) % comm.size;
    copy(members.of(m)[comm.rank], to[m]);
  }
  members.synchronize_again();
  members.end();
  return true;
}

}  // namespace heddle::coll
