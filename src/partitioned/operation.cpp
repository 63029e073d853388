#include "partitioned/operation.hpp"

#include "p2p/p2p.hpp"
#include "rank/rank.hpp"

namespace heddle::partitioned {

Operation::Operation(const Arguments& args, const RequestType& type)
    : comm_(args.comm),
      request_(p2p::take_request(type)),
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
  request_.done.store(0, std::memory_order_relaxed);
}

bool Operation::poll() {
  if (!advance()) return false;
  p2p::complete(request_);
  return true;
}

void Operation::launch() {
  Rank& rank = *comm_.owner;
  if (!poll()) p2p::start_polling(rank, *this);
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
  const char* why = error_ == MPI_ERR_TRUNCATE ? ": sender and receiver do not agree on the size of the whole" : "";
  return comm_.handle != 0 ? fail_on(comm_, error_, "a partition's message failed%s", why)
                           : fail(error_, "a partition's message failed%s", why);
}

std::byte* Operation::element(MPI_Count index) const {
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::intptr_t>(buffer_) + index * datatype_->extent);
}

}  // namespace heddle::partitioned
