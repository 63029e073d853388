#include "messaging/partitioned/operation.hpp"

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <new>

#include "launch/boot/join.hpp"
#include "launch/rank/rank.hpp"
#include "messaging/p2p/lanes.hpp"
#include "messaging/p2p/requests.hpp"
#include "messaging/partitioned/board.hpp"
#include "objects/object/tags.hpp"

namespace heddle::partitioned {

Tags::Tags(const Rank& rank, int partitions)
    : blocks_(rank.lanes != nullptr ? static_cast<std::uint32_t>(rank.lanes->count()) : 1),
      of_block_(std::max(1u, (static_cast<std::uint32_t>(partitions) + blocks_ - 1) / blocks_)) {}

int Tags::of(std::uint32_t first_tag, int partition) const {
  const auto i = static_cast<std::uint32_t>(partition);
  return partition_tag(first_tag + i % of_block_ * blocks_ + i / of_block_);
}

PartitionCounts::PartitionCounts(int partitions)
    : partitions_(partitions),
      per_count_(std::max(fewest_per_count, (partitions + most_counts - 1) / most_counts)),
      counts_((partitions + per_count_ - 1) / per_count_),
      count_(std::make_unique<Count[]>(static_cast<std::size_t>(counts_))) {}

bool PartitionCounts::count(int partition, std::uint32_t round) {
  const auto add = [round](Count& count, int of_round) {
    return count.n.fetch_add(1, std::memory_order_acq_rel) + 1 == round * static_cast<std::uint32_t>(of_round);
  };
  const int index = partition / per_count_;
  return add(count_[static_cast<std::size_t>(index)], std::min(per_count_, partitions_ - index * per_count_)) &&
         add(whole_, counts_);
}

void GiveRequestBack::operator()(Request* request) const {
  request->type = nullptr;  // there is nothing to destroy
  p2p::give_back_unstarted(*request);
}

bool Letter::poll() {
  if (message->done.load(std::memory_order_acquire) == 0) return false;
  if (unused_board_in != nullptr && content.board != node::nowhere)
    Board::leave(*unused_board_in, content.board, content.partitions, content.bytes);
  p2p::give_back(*message);
  delete this;
  return true;
}

void Letter::leave(std::unique_ptr<Letter> letter, Rank& rank) {
  Letter& left = *letter.release();
  if (!left.poll()) p2p::start_polling(rank, left);
}

Operation::Operation(const Arguments& args, Request& request)
    : comm_(args.comm),
      request_(request),
      buffer_(args.buffer),
      partitions_(args.partitions),
      count_(args.count),
      datatype_(args.datatype),
      peer_(args.peer),
      tag_(args.tag) {
  retain(comm_);
  request_.comm = &comm_;
  request_.context = comm_.context;
  request_.source = request_.peer = peer_;
  request_.tag = tag_;
  request_.persistent = true;
  request_.state = this;
}

Operation::~Operation() { release(comm_); }

void Operation::begin_round() {
  error_ = MPI_SUCCESS;
  shortage_ = {};
  request_.done.store(0, std::memory_order_relaxed);
}

bool Operation::poll() {
  try {
    if (!advance()) return false;
  } catch (const std::bad_alloc&) {
    if (!shortage_.bear()) end_job();
    throw;
  }
  p2p::complete(request_);
  return true;
}

// The other side has begun, and cannot be notified.
void Operation::end_job() const {
  const Rank& rank = *comm_.owner;
  const std::lock_guard guard(comm_.mutex);
  char text[400];
  std::snprintf(
      text, sizeof text,
      "rank %d of %d has had no memory for the partitioned receive from rank %d with tag %d on %s for %d seconds\n"
      "  Start fewer ranks, or raise the limit (ulimit -v, the container's)\n",
      rank.rank_shown(), rank.world_size, peer_, tag_, comm_.name.empty() ? "a communicator" : comm_.name.c_str(),
      progress::Shortage::seconds);
  boot::abort(rank.job.get(), MPI_ERR_NO_MEM, text);
}

void Operation::launch() {
  Rank& rank = *comm_.owner;
  bool over = false;
  try {
    over = poll();
  } catch (const std::bad_alloc&) {  // progress may have better luck
  }
  if (!over) p2p::start_polling(rank, *this);
}

void Operation::note(int error) {
  if (error_ == MPI_SUCCESS) error_ = error;
}

void Operation::collect(Request& message) {
  note(message.error);
  p2p::give_back(message);
}

Error Operation::error() const {
  if (error_ == MPI_SUCCESS) return success;
  const char* why = error_ == MPI_ERR_TRUNCATE ? ": sender and receiver have different total sizes" : "";
  return comm_.handle != 0 ? fail_on(comm_, error_, "a partition's message failed%s", why)
                           : fail(error_, "a partition's message failed%s", why);
}

std::byte* Operation::element(MPI_Count index) const {
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::intptr_t>(buffer_) + index * datatype_->extent);
}

}  // namespace heddle::partitioned
