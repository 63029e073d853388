#include "messaging/partitioned/board.hpp"

#include <new>

#include "launch/rank/rank.hpp"
#include "messaging/p2p/p2p.hpp"

namespace heddle::partitioned {

std::unique_ptr<Board> Board::make(const Comm& comm, int peer, int partitions, std::size_t partition_bytes) {
  if (peer == MPI_PROC_NULL || !p2p::is_on_this_node(comm, peer)) return nullptr;
  if (partitions == 0 || partition_bytes == 0 || partition_bytes > longest_partition) return nullptr;
  const std::size_t bytes = bytes_for(partitions, partition_bytes);
  if (bytes > most_bytes) return nullptr;
  node::Heap& heap = p2p::shared_memory(*comm.owner);
  const node::Offset place = heap.allocate(bytes, 2);
  if (place == node::nowhere) return nullptr;
  std::unique_ptr<Board> board;
  try {
    board = std::make_unique<Board>(heap, place, partitions, partition_bytes);
  } catch (const std::bad_alloc&) {
    for (int user = 0; user < 2; ++user) heap.release(place, bytes);
    return nullptr;
  }
  new (&board->rounds()) Rounds{};
  for (Round set = 0; set < Rounds::sets; ++set)
    for (int i = 0; i < partitions; ++i) new (&board->slot(i, set)) Slot{};
  return board;
}

Board::Board(node::Heap& heap, node::Offset place, int partitions, std::size_t partition_bytes)
    : heap_(heap),
      place_(place),
      partitions_(static_cast<std::size_t>(partitions)),
      stride_(stride_of(partition_bytes)),
      bytes_(bytes_for(partitions, partition_bytes)) {
  heap_.join(place_);
}

Board::~Board() { heap_.release(place_, bytes_); }

void Board::leave(node::Heap& heap, node::Offset place, int partitions, std::size_t partition_bytes) {
  heap.release(place, bytes_for(partitions, partition_bytes));
}

}  // namespace heddle::partitioned
