#include "mpi/io/two_phase.hpp"

#include <algorithm>

#include "messaging/p2p/p2p.hpp"
#include "mpi/coll/plans.hpp"
#include "mpi/io/mapping.hpp"
#include "mpi/io/sieve.hpp"
#include "objects/object/comm.hpp"
#include "objects/object/resolve.hpp"
#include "objects/op/op.hpp"

namespace heddle::io {

namespace {

const Datatype& byte_type() { return *predefined_datatype(MPI_BYTE); }

// I/O of an aggregator, by the executor.
template <class F>
class Work final : public Job {
 public:
  explicit Work(F call) : call_(std::move(call)) {}
  void run() override { call_(); }

 private:
  F call_;
};

enum Tag { head_tag, grids_tag, data_tag };

}  // namespace

std::byte* TwoPhase::Stage::take(std::size_t bytes) {
  if (used_ == chunks_.size()) chunks_.emplace_back();
  Chunk& chunk = chunks_[used_++];
  if (chunk.size < bytes) chunk = {std::unique_ptr<std::byte[]>(new std::byte[bytes]), bytes};
  return chunk.memory.get();
}

TwoPhase::TwoPhase(Operation& operation, Executor* executor)
    : operation_(operation),
      access_(operation.access()),
      comm_(*operation.file().comm),
      executor_(executor),
      tag_(static_cast<int>(access_.file.collectives.fetch_add(1, std::memory_order_relaxed) % (1u << 28)) * tags),
      mine_(describe(access_)),
      parts_(static_cast<std::size_t>(comm_.size)),
      file_(access_.view, access_.position, access_.bytes) {
  parts_[static_cast<std::size_t>(comm_.rank)] = mine_;
  if (comm_.size == 1) return;
  const auto reserve = [this](coll::TakenSchedule& schedule, auto&& plan) {
    const Error error = coll::reserve(comm_, schedule, plan);
    if (error) schedule.reset();
    note(error);
  };
  reserve(exchange_, coll::plan::Allgather{&mine_, sizeof mine_, &byte_type(),
                                           coll::Blocks::regular(parts_.data(), sizeof mine_, &byte_type())});
  reserve(agreement_, coll::plan::Allreduce{MPI_IN_PLACE, &error_number_, 1, *predefined_datatype(MPI_UINT64_T),
                                            *predefined_op(MPI_MAX)});
}

void TwoPhase::submit(coll::TakenSchedule& reserved) {
  if (reserved == nullptr) return;
  MPI_Request handle = MPI_REQUEST_NULL;
  note(coll::submit(std::move(reserved), &handle));
  if (handle != MPI_REQUEST_NULL) soon_.push_back(object(handle));
}

Flow TwoPhase::flow() {
  submit(exchange_);
  co_await soon_;
  note(end_requests(soon_));
  const Plan plan(comm_, parts_);
  if (!plan.is_two_phase()) {
    Moved moved;
    Work alone([&] { moved = move_alone(access_); });
    if (executor_ == nullptr) {
      alone.run();
    } else {
      executor_->submit(alone);
      co_await alone;
    }
    operation_.set_moved(moved);
    co_return;
  }

  const bool aggregates = std::ranges::find(plan.aggregators(), comm_.rank) != plan.aggregators().end();
  if (aggregates) {
    buffer_.reset(new std::byte[static_cast<std::size_t>(plan.window_bytes())]);
    if (access_.write) written_ = std::make_unique<Written>(static_cast<std::size_t>(plan.window_bytes()));
  }
  for (std::int64_t round = 0; round < plan.rounds(); ++round) {
    find_pieces(plan, round);
    tell_aggregators();
    access_.write ? send_data() : receive_data();
    co_await soon_;
    note(end_requests(soon_));
    receive_grids();
    if (access_.write) gather();
    co_await soon_;
    note(end_requests(soon_));
    if (access_.write) {
      co_await requests_;
      note(end_requests(requests_));
      if (is_aggregator()) put_in_place();
    }
    if (is_aggregator()) {
      Work moving([this] { access_.write ? write_window() : read_window(); });
      if (executor_ == nullptr) {
        moving.run();
      } else {
        executor_->submit(moving);
        co_await moving;
      }
    }
    if (!access_.write) {
      scatter();
      co_await requests_;
      take_arrived();
      note(end_requests(requests_));
    }
    stage_.clear();
  }

  // A member without a part in the failed access cannot know that the others' data are missing; so all report it.
  if (failure_ != MPI_SUCCESS) error_number_ = std::max<std::uint64_t>(error_number_, EIO);
  submit(agreement_);
  co_await soon_;
  note(end_requests(soon_));
  const std::size_t moved = access_.write ? access_.bytes : arrived_;
  operation_.set_moved({error_number_ == 0 ? moved : 0, static_cast<int>(error_number_)});
}

void TwoPhase::find_pieces(const Plan& plan, std::int64_t round) {
  const auto aggregators = plan.aggregators();
  const Part& mine = parts_[static_cast<std::size_t>(comm_.rank)];
  to_.clear();
  to_.reserve(aggregators.size());
  from_.clear();
  own_ = nullptr;
  window_ = {};
  for (std::size_t a = 0; a < aggregators.size(); ++a) {
    const Window window = plan.window(round, a);
    if (aggregators[a] == comm_.rank) window_ = window;
    if (!mine.touches(window.first, window.end)) continue;
    Piece& piece = to_.emplace_back(Piece{.rank = aggregators[a], .stream = stream_});
    for (Run run = file_.current(); run.length != 0 && run.offset < window.end; run = file_.current()) {
      run.length = static_cast<std::size_t>(
          std::min<std::int64_t>(static_cast<std::int64_t>(run.length), window.end - run.offset));
      piece.grids.add(run);
      file_.advance(run.length);
      stream_ += run.length;
    }
    if (piece.rank == comm_.rank) own_ = &piece;
  }
  if (!is_aggregator()) return;
  if (written_ != nullptr) written_->clear();
  for (int r = 0; r < comm_.size; ++r)
    if (r != comm_.rank && parts_[static_cast<std::size_t>(r)].touches(window_.first, window_.end))
      from_.push_back(Piece{.rank = r});
}

void TwoPhase::tell_aggregators() {
  for (Piece& piece : from_) soon_.push_back(&receive(&piece.head, sizeof piece.head, piece.rank, head_tag));
  for (Piece& piece : to_) {
    if (&piece == own_) continue;
    const std::vector<Grid>& grids = piece.grids.list();
    piece.head = {static_cast<std::int64_t>(grids.size()), static_cast<std::int64_t>(piece.grids.bytes()),
                  grids.empty() ? Grid{} : grids[0]};
    send(&piece.head, sizeof piece.head, piece.rank, head_tag);
    if (grids.size() > 1) send(grids.data(), grids.size() * sizeof(Grid), piece.rank, grids_tag);
  }
}

// Null: the buffer's stream does not lie in one piece.
std::byte* TwoPhase::contiguous(std::size_t stream) const {
  const Buffer& memory = access_.memory;
  if (!is_run(*memory.type, memory.count)) return nullptr;
  return static_cast<std::byte*>(run_start(*memory.type, memory.data)) + stream;
}

void TwoPhase::send_data() {
  const Buffer& memory = access_.memory;
  for (Piece& piece : to_) {
    const std::size_t bytes = piece.grids.bytes();
    if (&piece == own_ || bytes == 0) continue;
    piece.data = contiguous(piece.stream);
    if (piece.data == nullptr) {
      piece.data = stage_.take(bytes);
      pack(*memory.type, memory.data, memory.count, piece.stream, piece.data, bytes);
    }
    send(piece.data, bytes, piece.rank, data_tag);
  }
}

void TwoPhase::receive_data() {
  for (Piece& piece : to_) {
    const std::size_t bytes = piece.grids.bytes();
    if (&piece == own_ || bytes == 0) continue;
    piece.data = contiguous(piece.stream);
    piece.in_place = piece.data != nullptr;
    if (!piece.in_place) piece.data = stage_.take(bytes);
    piece.received = &receive(piece.data, bytes, piece.rank, data_tag);
    requests_.push_back(piece.received);
  }
}

void TwoPhase::receive_grids() {
  for (Piece& piece : from_) {
    if (piece.head.grids == 1) piece.given.assign(1, piece.head.first);
    if (piece.head.grids <= 1) continue;
    piece.given.resize(static_cast<std::size_t>(piece.head.grids));
    soon_.push_back(&receive(piece.given.data(), piece.given.size() * sizeof(Grid), piece.rank, grids_tag));
  }
}

void TwoPhase::gather() {
  for (Piece& piece : from_) {
    const auto bytes = static_cast<std::size_t>(piece.head.bytes);
    if (bytes == 0) continue;
    piece.in_place = piece.head.grids == 1 && piece.head.first.count == 1;
    piece.data = piece.in_place ? in_window(piece.head.first.offset) : stage_.take(bytes);
    requests_.push_back(&receive(piece.data, bytes, piece.rank, data_tag));
  }
}

void TwoPhase::take_own(const Piece& own) {
  const Buffer& memory = access_.memory;
  std::size_t stream = own.stream;
  for_each_run(own.grids.list(), [&](const Run& run) {
    pack(*memory.type, memory.data, memory.count, stream, in_window(run.offset), run.length);
    written_->mark(static_cast<std::size_t>(run.offset - window_.first), run.length);
    stream += run.length;
  });
}

void TwoPhase::put_in_place() {
  if (own_ != nullptr) take_own(*own_);
  for (const Piece& piece : from_) {
    const std::byte* data = piece.data;
    for_each_run(piece.given, [&](const Run& run) {
      if (!piece.in_place)
        datatype::copy_run(reinterpret_cast<char*>(in_window(run.offset)), reinterpret_cast<const char*>(data),
                           run.length);
      written_->mark(static_cast<std::size_t>(run.offset - window_.first), run.length);
      data += run.length;
    });
  }
}

// The last part first, since a mapping reaches to the end of the file and no further.
void TwoPhase::write_window() {
  std::size_t first = 0, length = 0, parts = 0, begin = 0, last = 0, last_length = 0;
  for (std::size_t from = 0; written_->find(from, first, length); from = first + length, ++parts) {
    if (parts == 0) begin = first;
    last = first;
    last_length = length;
  }
  if (parts == 0) return;
  const auto write = [&](std::size_t at, std::size_t bytes) {
    if (error_number_ != 0) return;
    const Moved moved =
        access_.file.device.write(window_.first + static_cast<std::int64_t>(at), buffer_.get() + at, bytes);
    error_number_ = static_cast<std::uint64_t>(moved.error_number);
  };
  write(last, last_length);
  const bool maps = access_.hints.ds_write != Choice::disable && error_number_ == 0 && parts > 1 &&
                    (last - begin) / (parts - 1) <= static_cast<std::size_t>(max_store_stride);
  const Mapping mapping(access_.file.device, window_.first + static_cast<std::int64_t>(begin),
                        maps ? static_cast<std::int64_t>(last - begin) : 0);
  for (std::size_t from = 0; written_->find(from, first, length) && first != last; from = first + length) {
    if (mapping)
      std::copy_n(buffer_.get() + first, length, mapping.at(window_.first + static_cast<std::int64_t>(first)));
    else
      write(first, length);
  }
}

// The range between the first and the last requested byte.
void TwoPhase::read_window() {
  std::int64_t first = window_.end;
  std::int64_t end = window_.first;
  const auto include = [&](const std::vector<Grid>& grids) {
    if (grids.empty()) return;
    const Grid& last = grids.back();
    first = std::min(first, grids.front().offset);
    end = std::max(end, last.offset + (last.count - 1) * last.stride + last.length);
  };
  for (const Piece& piece : from_) include(piece.given);
  if (own_ != nullptr) include(own_->grids.list());
  valid_end_ = first;
  if (first >= end || error_number_ != 0) return;
  const Moved moved = access_.file.device.read(first, in_window(first), static_cast<std::size_t>(end - first));
  valid_end_ = first + static_cast<std::int64_t>(moved.bytes);
  error_number_ = static_cast<std::uint64_t>(moved.error_number);
}

std::size_t TwoPhase::valid_of(const Run& run) const {
  return static_cast<std::size_t>(
      std::clamp<std::int64_t>(valid_end_ - run.offset, 0, static_cast<std::int64_t>(run.length)));
}

void TwoPhase::scatter() {
  for (Piece& piece : from_) {
    if (piece.head.bytes == 0) continue;
    std::size_t bytes = 0;
    if (piece.head.grids == 1 && piece.head.first.count == 1) {
      piece.data = in_window(piece.head.first.offset);
      bytes = valid_of({piece.head.first.offset, static_cast<std::size_t>(piece.head.first.length)});
    } else {
      piece.data = stage_.take(static_cast<std::size_t>(piece.head.bytes));
      for_each_run(piece.given, [&](const Run& run) {
        const std::size_t n = valid_of(run);
        datatype::copy_run(reinterpret_cast<char*>(piece.data) + bytes,
                           reinterpret_cast<const char*>(in_window(run.offset)), n);
        bytes += n;
      });
    }
    send(piece.data, bytes, piece.rank, data_tag);
  }
}

// In the order of the windows: data behind a gap are not counted.
void TwoPhase::take_arrived() {
  const Buffer& memory = access_.memory;
  for (const Piece& piece : to_) {
    std::size_t bytes = 0;
    if (&piece == own_) {
      std::size_t stream = piece.stream;
      for_each_run(piece.grids.list(), [&](const Run& run) {
        const std::size_t n = valid_of(run);
        unpack(*memory.type, memory.data, memory.count, stream, in_window(run.offset), n);
        stream += n;
      });
      bytes = stream - piece.stream;
    } else if (piece.received != nullptr) {
      bytes = piece.received->error == MPI_SUCCESS ? piece.received->bytes : 0;
      if (!piece.in_place) unpack(*memory.type, memory.data, memory.count, piece.stream, piece.data, bytes);
    }
    if (!ended_) arrived_ += bytes;
    ended_ |= bytes != piece.grids.bytes();
  }
}

void TwoPhase::send(const void* data, std::size_t bytes, int to, int tag) {
  requests_.push_back(
      &p2p::isend(comm_, Plane::user, data, static_cast<MPI_Count>(bytes), byte_type(), to, tag_ + tag));
}

Request& TwoPhase::receive(void* data, std::size_t bytes, int from, int tag) {
  return p2p::irecv(comm_, Plane::user, data, static_cast<MPI_Count>(bytes), byte_type(), from, tag_ + tag);
}

}  // namespace heddle::io
