#include "p2p/buffer.hpp"

#include <algorithm>

#include "datatype/datatype.hpp"
#include "object/group.hpp"
#include "object/session.hpp"
#include "p2p/p2p.hpp"
#include "p2p/vni.hpp"
#include "rank/rank.hpp"

namespace heddle::p2p {

void SendBuffer::reap() {
  std::erase_if(blocks_, [](Block& block) {
    if (block.awaited || block.request->done.load(std::memory_order_acquire) == 0) return false;
    give_back(*block.request);
    return true;
  });
}

std::list<SendBuffer::Block>::iterator SendBuffer::find_room(std::size_t bytes, std::size_t& begin) {
  begin = 0;
  for (auto block = blocks_.begin(); block != blocks_.end(); ++block) {
    if (block->begin - begin >= bytes) return block;
    begin = block->end;
  }
  return blocks_.end();
}

Error SendBuffer::send(Comm& comm, const void* buffer, MPI_Count count, const Datatype& datatype, int peer, int tag) {
  const std::size_t bytes = packed_size(datatype, count);
  // Places begin at multiples of 16; a message takes no more than what is counted for it, so the overhead pays for that.
  const std::size_t need = (bytes + MPI_BSEND_OVERHEAD) / 16 * 16;
  std::lock_guard guard(mutex_);
  reap();
  Block block{};
  block.serial = copied_;
  auto place = blocks_.end();
  std::byte* copy = nullptr;
  if (automatic()) {
    block.own = std::make_unique_for_overwrite<std::byte[]>(bytes);
    copy = block.own.get();
  } else {
    place = find_room(need, block.begin);
    if (place == blocks_.end() && block.begin + bytes + MPI_BSEND_OVERHEAD > static_cast<std::size_t>(size_))
      return fail(MPI_ERR_BUFFER, "no room for a message of %zu bytes in the attached buffer of %lld", bytes,
                  static_cast<long long>(size_));
    block.end = block.begin + need;
    copy = static_cast<std::byte*>(base_) + block.begin;
  }
  pack(datatype, buffer, count, 0, copy, bytes);
  block.request =
      &isend(comm, Plane::user, copy, static_cast<MPI_Count>(bytes), *predefined_datatype(MPI_BYTE), peer, tag);
  blocks_.insert(place, std::move(block));
  ++copied_;
  return success;
}

std::uint64_t SendBuffer::copied() {
  const std::lock_guard guard(mutex_);
  return copied_;
}

bool SendBuffer::left(std::uint64_t copied) {
  // Progress asks this, also that of a thread which is sending.
  const std::unique_lock guard(mutex_, std::try_to_lock);
  if (!guard) return false;
  reap();
  return std::ranges::none_of(blocks_, [&](const Block& block) { return block.serial < copied; });
}

void SendBuffer::flush() {
  const std::lock_guard alone(flushing_);
  std::unique_lock guard(mutex_);
  const std::uint64_t mark = copied_;
  for (;;) {
    reap();
    const auto block = std::ranges::find_if(blocks_, [&](const Block& b) { return b.serial < mark; });
    if (block == blocks_.end()) return;
    block->awaited = true;
    guard.unlock();
    (void)wait(*block->request);
    guard.lock();
    block->awaited = false;
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
