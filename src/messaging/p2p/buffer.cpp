#include "messaging/p2p/buffer.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <new>

#include "base/platform/native.hpp"
#include "launch/rank/rank.hpp"
#include "messaging/engine/vni.hpp"
#include "messaging/p2p/p2p.hpp"
#include "messaging/p2p/requests.hpp"
#include "network/header.hpp"
#include "objects/datatype/datatype.hpp"
#include "objects/object/group.hpp"
#include "objects/object/session.hpp"

namespace heddle::p2p {

namespace {

// The time that a send polls for the end of earlier ones before it reports a full buffer: a few times as long as a
// thread may have to wait for its turn on a core.
constexpr auto patience = std::chrono::milliseconds(20);

}  // namespace

SendBuffer::Blocks::iterator SendBuffer::erase(Blocks::iterator block) {
  const bool is_turn = turn_ == block, is_taken = taken_ == block;
  if (block->request != nullptr) give_back(*block->request);
  const auto next = blocks_.erase(block);
  if (is_turn) turn_ = next;
  if (is_taken) taken_ = next;
  return next;
}

void SendBuffer::reap() {
  for (auto block = blocks_.begin(); block != blocks_.end();)
    block = has_left(*block) ? erase(block) : std::next(block);
}

SendBuffer::Blocks::iterator SendBuffer::first_before(std::uint64_t mark) {
  auto block = blocks_.begin();
  while (block != blocks_.end() && (has_left(*block) || block->serial >= mark))
    block = has_left(*block) ? erase(block) : std::next(block);
  return block;
}

void SendBuffer::reap_next() {
  for (int i = 0; i < 2 && !blocks_.empty(); ++i) {
    if (turn_ == blocks_.end()) turn_ = blocks_.begin();
    const auto block = turn_++;
    if (has_left(*block)) erase(block);
  }
}

SendBuffer::Blocks::iterator SendBuffer::find_room(std::size_t bytes, std::size_t& begin) {
  begin = 0;
  for (auto block = blocks_.begin(); block != blocks_.end(); ++block) {
    if (block->begin - begin >= bytes) return block;
    begin = block->end;
  }
  return blocks_.end();
}

// One request for each VNI that messages wait for is enough: a test of it polls there. Nothing is held meanwhile, since progress may
// call the program, which may send through this buffer. A message that is done keeps its place while another thread tests it here.
bool SendBuffer::poll(Guard& guard) {
  std::array<Block*, lln::most_vnis> pinned{};
  bool others_test = false;
  for (Block& block : blocks_) {
    if (block.request->done.load(std::memory_order_acquire) != 0) {
      others_test |= block.pins != 0;
      continue;
    }
    const engine::Vni* const vni = block.request->vni;
    Block*& of_vni = pinned[static_cast<std::size_t>(vni != nullptr ? vni->index() : 0)];
    if (of_vni != nullptr) continue;
    of_vni = &block;
    ++block.pins;
  }
  const bool any = std::ranges::any_of(pinned, [](const Block* block) { return block != nullptr; });
  if (!any && !others_test) return false;
  guard.unlock();
  if (!any) platform::Native::yield();
  for (Block* block : pinned)
    if (block != nullptr) (void)test(*block->request);
  guard.lock();
  for (Block* block : pinned)
    if (block != nullptr) --block->pins;
  return true;
}

bool SendBuffer::make_room(Guard& guard, std::size_t bytes, Block& block, Blocks::iterator& place) {
  // Places begin at multiples of 16; a message takes at most its counted size, so the overhead pays for that.
  const std::size_t need = (bytes + MPI_BSEND_OVERHEAD) / 16 * 16;
  const auto size = static_cast<std::size_t>(size_);
  // The last message may use what is left without rounding, so that a buffer of exactly the right size is enough.
  const std::size_t exactly = bytes + MPI_BSEND_OVERHEAD;
  const auto fits_there = [&] {
    block.end = block.begin + need;
    return place != blocks_.end() ? block.end <= place->begin : block.begin + exactly <= size;
  };
  const auto fits = [&] {
    reap();
    place = find_room(need, block.begin);
    return fits_there();
  };
  reap_next();
  block.begin = free_begin_;
  place = taken_;
  if (fits_there() || fits()) return true;
  if (exactly > size) return false;
  // The message that confirms a receive may be here and not polled yet, or with another thread that has lost its core.
  using Clock = std::chrono::steady_clock;
  for (const auto end = Clock::now() + patience; poll(guard);) {
    if (fits()) return true;
    if (Clock::now() >= end) return false;
  }
  return fits();
}

Error SendBuffer::send(Comm& comm, const void* buffer, MPI_Count count, const Datatype& datatype, int peer, int tag) {
  const std::size_t bytes = packed_size(datatype, count);
  Guard guard(mutex_);
  Block block{};
  auto place = blocks_.end();
  std::byte* copy = nullptr;
  if (automatic()) {
    reap_next();
    block.own = std::make_unique_for_overwrite<std::byte[]>(bytes);
    copy = block.own.get();
  } else {
    if (!make_room(guard, bytes, block, place))
      return fail(MPI_ERR_BUFFER,
                  "no room for a message of %zu bytes to rank %d in the attached buffer of %lld: %zu messages in it "
                  "have not been "
                  "received. Attach a larger one, or send less before they are",
                  bytes, peer, static_cast<long long>(size_), blocks_.size());
    copy = static_cast<std::byte*>(base_) + block.begin;
  }
  block.serial = copied_;
  pack(datatype, buffer, count, 0, copy, bytes);
  // Inserted first: a sent message must not be forgotten.
  const auto placed = blocks_.insert(place, std::move(block));
  free_begin_ = placed->end;
  taken_ = place;
  try {
    placed->request = &isend(comm, Plane::user, copy, static_cast<MPI_Count>(bytes), *predefined_datatype(MPI_BYTE),
                             peer, tag, message::Mode::buffered);
  } catch (const std::bad_alloc&) {
    erase(placed);
    throw;
  }
  Request& request = *placed->request;
  if (request.done.load(std::memory_order_acquire) != 0 && request.error != MPI_SUCCESS) {
    const Error error = explain(request);
    erase(placed);
    return error;
  }
  ++copied_;
  return success;
}

std::uint64_t SendBuffer::copied() {
  const std::lock_guard guard(mutex_);
  return copied_;
}

std::optional<bool> SendBuffer::left(std::uint64_t copied) {
  // Progress calls this, also that of a sending thread.
  const std::unique_lock guard(mutex_, std::try_to_lock);
  if (!guard) return std::nullopt;
  return first_before(copied) == blocks_.end();
}

void SendBuffer::flush() {
  const std::lock_guard alone(flushing_);
  Guard guard(mutex_);
  const std::uint64_t mark = copied_;
  for (;;) {
    const auto block = first_before(mark);
    if (block == blocks_.end()) return;
    ++block->pins;
    guard.unlock();
    (void)wait(*block->request);
    guard.lock();
    --block->pins;
  }
}

Error buffered_send(Comm& comm, const void* buffer, MPI_Count count, const Datatype& datatype, int peer, int tag) {
  if (peer == MPI_PROC_NULL) return success;
  const Session* session = comm.local_group->session;
  SendBuffer* attached = comm.buffer.get();
  if (attached == nullptr && session != nullptr) attached = session->buffer.get();
  if (attached == nullptr) attached = comm.owner->buffer.get();
  if (attached == nullptr)
    return fail(MPI_ERR_BUFFER, "no buffer is attached to this communicator, its session or this process");
  return attached->send(comm, buffer, count, datatype, peer, tag);
}

}  // namespace heddle::p2p
