// Staged copies: how a stage is allocated, filled, emptied and released (stage.hpp).
//
// With more ranks than cores, a sender that waits for the receiver's CTS waits for a core. So a message of at most early_stage_bytes
// bytes to another process is staged early: the sender creates the stage, names it in the RTS, and packs. The send completes when all is
// packed, whether the receive has been posted or not. A receiver that finds no packed chunk for a while reads from the back, as with any
// staged message. Then the send has to wait for the receiver's FIN.
//
// A VNI has at most `most_unread` early messages that their receivers have not taken (choose.hpp). It only announces further ones.
#include <algorithm>
#include <mutex>
#include <utility>

#include "base/instruments/cells.hpp"
#include "base/platform/native.hpp"
#include "launch/boot/peer_memory.hpp"
#include "messaging/message/protocol/local/transfers.hpp"
#include "objects/datatype/datatype.hpp"

namespace heddle::message {

using boot::Direction;
using boot::move_bytes;
using node::nowhere;

namespace {

// Nanoseconds for which one side waits for the other, if the other may be working: several times the duration of a chunk.
constexpr std::int64_t patience = 4'000;

}  // namespace

// ---- starting a transfer, with the VNI's lock held

// False for data that the peer maps: the peer copies them itself.
bool Transfers::may_be_staged_early(const Request& send) {
  if (!plan_early(send.capacity, oversubscribed_, settings_)) return false;
  const boot::PeerMemory& memory = parts_.context.peer_memory;
  if (memory.same_space(send.peer)) return false;
  return !is_run(*send.datatype, send.count) || !memory.shows(run_of(send));
}

node::Offset Transfers::offer(const Request& send) {
  const std::size_t bytes = send.capacity;
  if (!may_be_staged_early(send)) return nowhere;
  reserve();
  const node::Offset stage = stage_for(send.peer, Stage::block_of(bytes));
  if (stage != nowhere) new (parts_.context.node.heap().at<Stage>(stage)) Stage(bytes, 0);
  return stage;
}

void Transfers::begin(Request& send, node::Offset stage, Wakeups& wakeups) {
  Transfer& transfer = make(Transfer::Role::packer, send, send.peer, send.capacity);
  ++staged_early_;
  transfer.early = true;
  transfer.claim = std::exchange(send.send.claim, nowhere);
  transfer.shared = stage;
  start(transfer, wakeups);
}

void Transfers::take_back(int peer, node::Offset stage) {
  const std::size_t block = parts_.context.node.heap().at<Stage>(stage)->block();
  parts_.context.node.heap().release(stage, block);  // the receiver's reference
  keep({peer, stage, block});
}

void Transfers::decline(const LocalRts& rts) {
  if (rts.stage == nowhere) return;
  parts_.context.node.heap().join(rts.stage);
  parts_.context.node.heap().release(rts.stage, parts_.context.node.heap().at<Stage>(rts.stage)->block());
}

Transfer* Transfers::claim_untouched(const Request& send) {
  const std::lock_guard guard(mutex_);
  Transfer* before = nullptr;
  for (Transfer* t = head_; t != nullptr; before = std::exchange(t, t->next)) {
    if (t->request != &send || !t->early || t->position != 0) continue;
    (before != nullptr ? before->next : head_) = t->next;
    if (tail_ == t) tail_ = before;
    return t;
  }
  return nullptr;
}

void Transfers::drop(Transfer& transfer) {
  leave(transfer);
  retire(transfer);
}

// The sender is packing, or will be. If the receive buffer is too short, the rest of the message stays in the stage.
void Transfers::accept_early(Request& receive, int peer, const LocalRts& rts, Wakeups& wakeups) {
  parts_.context.node.heap().join(rts.stage);
  Transfer& transfer = make(Transfer::Role::unpacker, receive, peer, receive.bytes);
  transfer.early = true;
  transfer.send = rts.send;
  transfer.shared = rts.stage;
  transfer.can_copy_alone =
      is_run(*receive.datatype, receive.count) && receive.bytes == rts.bytes && can_read(peer, rts);
  if (transfer.can_copy_alone) {
    transfer.run = run_of(receive);
    transfer.peer_run = rts.run;
    transfer.process = parts_.context.peer_memory.process_of(peer);
  }
  count_held(parts_.counters, instruments::Count::staged);
  start(transfer, wakeups);
}

// False: there is no shared memory.
bool Transfers::accept_staged(Request& receive, int peer, const LocalRts& rts, const Course& course, Wakeups& wakeups) {
  const std::size_t bytes = receive.bytes;
  const node::Offset shared = stage_for(peer, Stage::block_of(bytes));
  if (shared == nowhere) return false;
  const bool circles = bytes > Stage::longest_ring;
  new (parts_.context.node.heap().at<Stage>(shared)) Stage(bytes, circles ? ring_position_ : 0);
  if (circles) ring_position_ = (ring_position_ + bytes) % Stage::longest_ring;
  Transfer& transfer = make(Transfer::Role::unpacker, receive, peer, bytes, course);
  transfer.send = rts.send;
  transfer.shared = shared;
  if (is_run(*receive.datatype, receive.count)) transfer.run = run_of(receive);
  transfer.can_copy_alone = transfer.run != nullptr && can_read(peer, rts);
  if (transfer.can_copy_alone) {
    transfer.peer_run = rts.run;
    transfer.process = parts_.context.peer_memory.process_of(peer);
  }
  count_held(parts_.counters, instruments::Count::staged);
  ask(peer, transfer, LocalCopy::staged, wakeups);
  start(transfer, wakeups);
  return true;
}

// Releases this rank's reference to the memory that both ends share.
void Transfers::leave(const Transfer& transfer) {
  using Role = Transfer::Role;
  if (transfer.shared == nowhere) return;
  if (transfer.role == Role::split_reader || transfer.role == Role::split_writer)
    return parts_.context.node.heap().release(transfer.shared, sizeof(Split));
  const KeptStages::Kept stage{transfer.peer, transfer.shared,
                               parts_.context.node.heap().at<Stage>(transfer.shared)->block()};
  // Keep the stage if this rank creates the stage of the next message in the other direction: then the rank that has just read this stage
  // writes to it. A receiver creates the stage; for an early message the sender does.
  if ((transfer.role == Role::packer) != transfer.early) return keep(stage);
  release(stage);
}

void Transfers::keep(const KeptStages::Kept& stage) {
  KeptStages::Kept released;
  {
    const std::lock_guard guard(mutex_);
    released = kept_.keep(stage);
  }
  release(released);
}

std::size_t Transfers::node_memory() {
  const std::lock_guard guard(mutex_);
  return kept_.node_memory();
}

void Transfers::release(const KeptStages::Kept& stage) {
  if (stage.stage != nowhere) parts_.context.node.heap().release(stage.stage, stage.bytes);
}

// A block for both ends of a message from or to that peer: the one whose sender has read it last, if the other end has released it. If
// there is no memory left, kept stages are released.
node::Offset Transfers::stage_for(int peer, std::size_t bytes) {
  const auto kept = [&](auto... which) {
    const std::lock_guard guard(mutex_);
    return kept_.take(which...);
  };
  const KeptStages::Kept last = kept(peer, bytes);
  if (last.stage != nowhere && parts_.context.node.heap().share(last.stage)) return last.stage;
  release(last);
  node::Offset made = nowhere;
  while ((made = parts_.context.node.heap().allocate(bytes, 2)) == nowhere) {
    const KeptStages::Kept spare = kept();
    if (spare.stage == nowhere) break;
    release(spare);
  }
  return made;
}

// ---- moving data, without the lock

// The sender's part. It reads its request only while it has a chunk: otherwise the receiver may have everything, and the FIN may have
// arrived.
Transfers::Step Transfers::fill(Transfer& transfer) {
  auto& stage = *parts_.context.node.heap().at<Stage>(transfer.shared);
  std::uint32_t filled = stage.filled.load(std::memory_order_relaxed);
  bool moved = false;
  // At most as many chunks as the ring holds: other transfers may be waiting.
  for (std::size_t left = stage.slots; left != 0; --left) {
    if (!transfer.early && filled - stage.emptied.load(std::memory_order_acquire) == stage.slots) break;
    const Split::Chunk chunk = stage.split.claim(transfer.bytes, stage.chunk, true);
    if (chunk.bytes == 0) return leave_over(transfer);
    const Request& send = *transfer.request;
    pack(*send.datatype, send.buffer, send.count, chunk.at, stage.place(filled), chunk.bytes);
    stage.bytes[stage.slot(filled)] = static_cast<std::uint32_t>(chunk.bytes);
    chunks_.fetch_add(1, std::memory_order_release);
    transfer.position += chunk.bytes;
    stage.filled.store(++filled, std::memory_order_release);
    parts_.route.wake(transfer.peer);
    moved = true;
  }
  if (!moved && transfer.can_copy_alone) return take_from_back(transfer, stage);
  transfer.waits_until = 0;
  return moved ? Step::moved : Step::waits;
}

// The receiver's part.
Transfers::Step Transfers::empty(Transfer& transfer) {
  auto& stage = *parts_.context.node.heap().at<Stage>(transfer.shared);
  const Request& receive = *transfer.request;
  std::uint32_t emptied = stage.emptied.load(std::memory_order_relaxed);
  bool moved = false;
  for (std::size_t left = stage.slots; left != 0 && stage.filled.load(std::memory_order_acquire) != emptied; --left) {
    const std::size_t at = emptied * stage.chunk;
    if (at >= transfer.bytes) break;  // the receive buffer has no room for the rest
    const std::size_t n = std::min<std::size_t>(stage.bytes[stage.slot(emptied)], transfer.bytes - at);
    unpack(*receive.datatype, receive.buffer, receive.count, at, stage.place(emptied), n);
    transfer.position += n;
    stage.emptied.store(++emptied, std::memory_order_release);
    if (!transfer.early) parts_.route.wake(transfer.peer);
    moved = true;
  }
  if (transfer.position + stage.split.moved.load(std::memory_order_acquire) == transfer.bytes) {
    if (const auto failed = stage.split.failed.load(std::memory_order_relaxed); failed != 0)
      transfer.request->error = error_of(transfer, static_cast<int>(failed));
    return leave_over(transfer);
  }
  if (!moved && transfer.can_copy_alone) return take_from_back(transfer, stage);
  transfer.waits_until = 0;
  return moved ? Step::moved : Step::waits;
}

// The other side makes no progress.
Transfers::Step Transfers::take_from_back(Transfer& transfer, Stage& stage) {
  const bool waits = transfer.early || !oversubscribed_;  // the sender of an early message packs now, if it ever does
  const std::int64_t now = platform::Native::now();
  if (transfer.waits_until == 0) transfer.waits_until = waits ? now + patience : now;
  if (now < transfer.waits_until) return Step::moved;  // no thread blocks meanwhile
  const Split::Chunk chunk = stage.split.claim(transfer.bytes, split_chunk, false);
  if (chunk.bytes == 0) return Step::waits;  // the other side has claimed the rest
  const bool reads = transfer.role == Transfer::Role::unpacker;
  const int error = move_bytes(reads ? Direction::read : Direction::write, transfer.process, transfer.run + chunk.at,
                               transfer.peer_run + chunk.at, chunk.bytes);
  if (error != 0) stage.split.failed.store(static_cast<std::uint32_t>(error), std::memory_order_relaxed);
  if (reads) {
    transfer.position += chunk.bytes;
    transfer.taken = true;
  } else {
    chunks_.fetch_add(1, std::memory_order_release);
    stage.split.moved.fetch_add(chunk.bytes, std::memory_order_acq_rel);
    parts_.route.wake(transfer.peer);
  }
  return Step::moved;
}

}  // namespace heddle::message
