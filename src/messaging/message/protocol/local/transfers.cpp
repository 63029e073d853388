#include "messaging/message/protocol/local/transfers.hpp"

#include <errno.h>
#include <mpi-ext.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/instruments/ticks.hpp"
#include "base/platform/native.hpp"
#include "launch/boot/peer_memory.hpp"
#include "messaging/message/verdicts.hpp"
#include "messaging/wake/wake.hpp"
#include "objects/datatype/datatype.hpp"

namespace heddle::message {

using boot::Direction;
using boot::move_bytes;
using boot::this_process;
using lln::MessageKind;
using node::nowhere;

namespace {

const Request& request_at(std::uint64_t address) { return *reinterpret_cast<const Request*>(address); }

}  // namespace

std::byte* run_of(const Request& request) {
  return static_cast<std::byte*>(run_start(*request.datatype, request.buffer));
}

Transfers::Transfers(const Parts& parts, const Claims& claims)
    : parts_(parts),
      claims_(claims),
      world_rank_(parts.context.world_rank),
      oversubscribed_(parts.context.oversubscribed),
      settings_(parts.context.copies) {}

Transfers::~Transfers() {
  while (const Transfer* const unfinished = claim()) leave(*unfinished);
  for (KeptStages::Kept kept; (kept = kept_.take()).stage != nowhere;) release(kept);
}

// ---- starting a transfer, with the VNI's lock held

void Transfers::accept(Request& receive, int peer, const LocalRts& rts, Wakeups& wakeups) {
  if (rts.stage != nowhere) return accept_early(receive, peer, rts, wakeups);
  const std::size_t bytes = receive.bytes;
  const bool far = !parts_.context.peer_memory.same_space(peer);
  std::byte* const seen = far && bytes != 0 ? parts_.context.peer_memory.see(peer, rts.run, bytes) : nullptr;
  CopyCase message{bytes, bytes == 0 || can_read(peer, rts), !far || seen != nullptr,
                   runs_allow_split(receive, peer, rts), false};
  Course course{.busy = has_sends()};
  if (!message.mapped && bytes != 0) course = course_of(peer, rts, message);
  message.busy = course.busy;
  LocalCopy copy = plan_copy(message, course.way, settings_);
  if (copy == LocalCopy::staged) {
    if (accept_staged(receive, peer, rts, course, wakeups)) return;
    course.way = Copying::by_kernel;  // there is no shared memory
    copy = plan_copy(message, course.way, settings_);
  }
  if (copy == LocalCopy::split && accept_split(receive, peer, rts, seen, course, wakeups)) return;
  Transfer& transfer = make(Transfer::Role::read, receive, peer, bytes, course);
  transfer.send = rts.send;
  if (message.readable) {
    transfer.peer_run = rts.run;
    transfer.process = parts_.context.peer_memory.process_of(peer);
    transfer.seen = seen;
  } else {
    // Without shared memory the data cannot be transferred; the sender still gets its FIN, so that it does not wait for ever.
    receive.error = MPI_ERR_NO_MEM;
    receive.bytes = transfer.bytes = 0;
  }
  start(transfer, wakeups);
}

// Between processes. "By the kernel" means a split copy, or a single copy by this rank while it has messages of its own under way. If it
// has none and the copy cannot be split, the message is staged: in a single copy the sender would have nothing to do. A rank that
// exchanges messages may receive one before it has sent its own. So it is also busy if the previous message overlapped with its sends:
// otherwise some messages would be copied in one way and some in the other, which is slower than either (docs/adr/0084). With more ranks
// than cores nothing is learnt; a rank that sends long messages between its receives is then busy, whether or not one is under way now
// (docs/adr/0081).
Course Transfers::course_of(int peer, const LocalRts& rts, const CopyCase& message) {
  if (!message.readable) return {Copying::staged};
  if (!tunes()) return {message.bytes >= settings_.staged_from ? Copying::staged : Copying::by_kernel};
  const bool overlaps = has_sends();
  if (oversubscribed_) return {Copying::by_kernel, overlaps || sent_ != std::exchange(seen_sent_, sent_)};
  const bool busy = overlaps || overlapped_;
  if (!busy && !can_split(message, settings_)) return {Copying::staged};
  const Wish theirs = peer < world_rank_ ? rts.wishes[busy ? 1 : 0] : Wish::none;
  const Copying way = theirs == Wish::none     ? tuner_.choose({message.bytes, busy})
                      : theirs == Wish::staged ? Copying::staged
                                               : Copying::by_kernel;
  return {way, busy, instruments::ticks(), overlaps, sent_};
}

std::array<Wish, 2> Transfers::wishes(int peer, std::size_t bytes) {
  if (world_rank_ > peer) return {};
  return {tuner_.wish({bytes, false}), tuner_.wish({bytes, true})};
}

// If several messages are under way, each is charged with the time since the previous one was complete.
void Transfers::learn(const Transfer& transfer) {
  const Course& course = transfer.course;
  if (course.began == 0 || transfer.request->error != MPI_SUCCESS) return;
  overlapped_ = course.overlaps || sent_ != course.sent;
  const std::uint64_t now = instruments::ticks();
  tuner_.note({transfer.bytes, course.busy}, course.way, now - std::max(course.began, last_learnt_));
  last_learnt_ = now;
}

// False: there is no shared memory.
bool Transfers::accept_split(Request& receive, int peer, const LocalRts& rts, std::byte* seen, const Course& course,
                             Wakeups& wakeups) {
  const node::Offset shared = parts_.context.node.heap().allocate(sizeof(Split), 2);
  if (shared == nowhere) return false;
  new (parts_.context.node.heap().at<Split>(shared)) Split{};
  Transfer& transfer = make(Transfer::Role::split_reader, receive, peer, receive.bytes, course);
  transfer.process = parts_.context.peer_memory.process_of(peer);
  const bool near = transfer.process == this_process;
  if (!near) transfer.run = run_of(receive);
  transfer.send = rts.send;
  transfer.peer_request = rts.send;
  transfer.peer_run = rts.run;
  transfer.seen = seen;
  transfer.shared = shared;
  ask(peer, transfer, LocalCopy::split, wakeups);
  start(transfer, wakeups);
  return true;
}

void Transfers::cleared(int peer, const LocalCts& cts, Wakeups& wakeups) {
  reserve();  // or the CTS stays in its channel
  auto& request = *reinterpret_cast<Request*>(cts.send);
  const bool split = cts.copy == LocalCopy::split;
  boot::PeerMemory& memory = parts_.context.peer_memory;
  parts_.context.node.heap().join(cts.shared);
  if (split && !memory.within_reach(peer)) {  // the receiver copies alone
    parts_.context.node.heap().release(cts.shared, sizeof(Split));
    return;
  }
  Transfer& transfer = make(split ? Transfer::Role::split_writer : Transfer::Role::packer, request, peer, cts.bytes);
  transfer.peer_request = cts.receive;
  transfer.peer_run = cts.run;
  transfer.can_copy_alone =
      !split && cts.run != 0 && is_run(*request.datatype, request.count) && memory.within_reach(peer);
  if (split || transfer.can_copy_alone) {
    transfer.process = memory.process_of(peer);
    if (transfer.process != this_process) transfer.run = run_of(request);
    if (split && transfer.process != this_process) transfer.seen = memory.see(peer, cts.run, cts.bytes);
  }
  transfer.shared = cts.shared;
  start(transfer, wakeups);
}

// Sends a CTS with the present state of the transfer: asks the sender to take part.
void Transfers::ask(int peer, const Transfer& transfer, LocalCopy copy, Wakeups& wakeups) {
  const LocalCts cts{transfer.send,
                     reinterpret_cast<std::uint64_t>(transfer.request),
                     reinterpret_cast<std::uint64_t>(transfer.run),
                     transfer.bytes,
                     transfer.shared,
                     copy};
  parts_.outgoing.send_to_node(peer, MessageKind::cts, cts, wakeups);
}

// Within a process any layout can be read.
bool Transfers::can_read(int peer, const LocalRts& rts) const {
  boot::PeerMemory& memory = parts_.context.peer_memory;
  return memory.same_space(peer) || (rts.run != 0 && memory.within_reach(peer));
}

bool Transfers::runs_allow_split(const Request& receive, int peer, const LocalRts& rts) const {
  const bool run = is_run(*receive.datatype, receive.count);
  if (!parts_.context.peer_memory.same_space(peer)) return run && rts.run != 0;
  const Request& send = request_at(rts.send);
  return run || is_run(*send.datatype, send.count);
}

void Transfers::reserve() {
  if (free_ == nullptr) free_ = &made_.emplace_back();
}

Transfer& Transfers::make(Transfer::Role role, Request& request, int peer, std::size_t bytes, const Course& course) {
  reserve();
  Transfer* t = free_;
  free_ = t->next;
  *t = Transfer{};
  t->role = role;
  t->request = &request;
  t->peer = peer;
  t->bytes = bytes;
  t->course = course;
  return *t;
}

void Transfers::start(Transfer& transfer, Wakeups& wakeups) {
  active_.fetch_add(1, std::memory_order_relaxed);
  put_back(transfer);
  parts_.context.wake.on(wake::Event::transfer_started, wakeups);  // the caller may not wait for it
}

// Takes the transfers that no thread works on, as a list.
Transfer* Transfers::take_abandoned(const Verdicts& verdicts, bool& complete) {
  std::lock_guard guard(mutex_);
  std::uint32_t seen = 0;
  Transfer* abandoned = nullptr;
  Transfer* const first = std::exchange(head_, nullptr);
  tail_ = nullptr;
  Transfer* next = nullptr;
  for (Transfer* t = first; t != nullptr; t = next) {
    next = t->next;
    ++seen;
    const bool over = t->over || (t->role == Transfer::Role::read && t->bytes == 0);  // only the peer has to be told
    if (verdicts.is_gone(t->peer) && !over) {
      t->next = std::exchange(abandoned, t);
      continue;
    }
    t->next = nullptr;
    (tail_ ? tail_->next : head_) = t;
    tail_ = t;
  }
  complete = seen == count();
  return abandoned;
}

// The error of a copy that the kernel has refused. The process may have died just now, and this rank may not know it yet.
int Transfers::error_of(const Transfer& transfer, int system_error) const {
  const bool died = system_error == ESRCH && parts_.context.survives_failures && transfer.process != this_process;
  return died ? MPIX_ERR_PROC_FAILED : MPI_ERR_OTHER;
}

void Transfers::end_later(Transfer& transfer) {
  transfer.over = true;
  put_back(transfer);
}

void Transfers::retire(Transfer& transfer) {
  if (transfer.early && transfer.role == Transfer::Role::packer) --staged_early_;
  transfer.next = free_;
  free_ = &transfer;
  active_.fetch_sub(1, std::memory_order_relaxed);
}

// ---- the queue

Transfer* Transfers::claim() {
  std::lock_guard guard(mutex_);
  Transfer* t = head_;
  if (t != nullptr) {
    head_ = t->next;
    if (head_ == nullptr) tail_ = nullptr;
  }
  return t;
}

void Transfers::put_back(Transfer& transfer) {
  std::lock_guard guard(mutex_);
  transfer.next = nullptr;
  (tail_ ? tail_->next : head_) = &transfer;
  tail_ = &transfer;
}

// ---- moving data, without the lock

Transfers::Step Transfers::move(Transfer& transfer) {
  if (transfer.over) [[unlikely]]
    return Step::over;
  switch (transfer.role) {
    case Transfer::Role::read:
      return read_alone(transfer);
    case Transfer::Role::split_reader:
    case Transfer::Role::split_writer:
      return share(transfer);
    case Transfer::Role::packer:
      return fill(transfer);
    case Transfer::Role::unpacker:
      return empty(transfer);
  }
  return Step::over;
}

Transfers::Step Transfers::read_alone(Transfer& transfer) {
  if (transfer.bytes == 0) return Step::over;
  Request& request = *transfer.request;
  if (transfer.process == this_process) {
    const Request& send = request_at(transfer.send);
    copy(*send.datatype, send.buffer, send.count, *request.datatype, request.buffer, request.count);
    return Step::over;
  }
  if (transfer.seen != nullptr) {
    unpack(*request.datatype, request.buffer, request.count, 0, transfer.seen, transfer.bytes);
    return Step::over;
  }
  int error = 0;
  if (is_run(*request.datatype, request.count)) {
    error = move_bytes(Direction::read, transfer.process, run_of(request), transfer.peer_run, transfer.bytes);
  } else {
    // Reads into a small piece that stays in the cache, and unpacks from there.
    alignas(64) std::byte piece[8 * 1024];  // on a stack that may be small: user-level threads run this too
    for (std::size_t at = 0; at < transfer.bytes && error == 0; at += sizeof piece) {
      const std::size_t n = std::min(sizeof piece, transfer.bytes - at);
      error = move_bytes(Direction::read, transfer.process, piece, transfer.peer_run + at, n);
      if (error == 0) unpack(*request.datatype, request.buffer, request.count, at, piece, n);
    }
  }
  if (error != 0) request.error = error_of(transfer, error);
  return Step::over;
}

// The largest chunk of one claim. A single message is divided finely: its last chunk then delays the end only a little, and each side
// gets its part. Between processes a chunk is a system call that pins pages, so the message is divided in halves. If several messages are
// under way, it is better for each side to copy different ones as a whole: memory that two cores write to is slower for both.
std::size_t Transfers::chunk_of(const Transfer& transfer) const {
  if (count() > 1) return split_chunk;
  const std::size_t parts = transfer.process == this_process || transfer.seen != nullptr ? 4 : 2;
  return std::clamp(transfer.bytes / parts / Split::unit * Split::unit, least_split_chunk, split_chunk);
}

// Copies the bytes [at, at + n) of the message, for either end. Returns 0 or an errno.
int Transfers::move_chunk(const Transfer& transfer, std::size_t at, std::size_t n) {
  const bool reader = transfer.role == Transfer::Role::split_reader;
  if (transfer.seen != nullptr) {
    std::memcpy(reader ? transfer.run + at : transfer.seen + at, reader ? transfer.seen + at : transfer.run + at, n);
    return 0;
  }
  if (transfer.process != this_process)
    return move_bytes(reader ? Direction::read : Direction::write, transfer.process, transfer.run + at,
                      transfer.peer_run + at, n);
  const Request& request = *transfer.request;
  const Request& peers = request_at(transfer.peer_request);
  const Request& send = reader ? peers : request;
  const Request& receive = reader ? request : peers;
  if (is_run(*send.datatype, send.count)) {
    unpack(*receive.datatype, receive.buffer, receive.count, at, run_of(send) + at, n);
  } else {
    pack(*send.datatype, send.buffer, send.count, at, run_of(receive) + at, n);
  }
  return 0;
}

// Both ends run this. The reader stays until the writer's last chunk is copied too.
Transfers::Step Transfers::share(Transfer& transfer) {
  auto& split = *parts_.context.node.heap().at<Split>(transfer.shared);
  const bool reader = transfer.role == Transfer::Role::split_reader;
  // The writer reads requests, within a process, only while it has a chunk: otherwise the reader may have finished everything, and the
  // FIN may have arrived.
  const Split::Chunk chunk = split.claim(transfer.bytes, chunk_of(transfer), world_rank_ < transfer.peer);
  if (chunk.bytes == 0) {
    if (!reader) return leave_over(transfer);
    if (split.moved.load(std::memory_order_acquire) < transfer.bytes) return Step::waits;
    if (const auto failed = split.failed.load(std::memory_order_relaxed); failed != 0)
      transfer.request->error = error_of(transfer, static_cast<int>(failed));
    return leave_over(transfer);
  }
  const int error = move_chunk(transfer, chunk.at, chunk.bytes);
  if (error != 0) split.failed.store(static_cast<std::uint32_t>(error), std::memory_order_relaxed);
  chunks_.fetch_add(1, std::memory_order_release);
  const std::size_t moved = split.moved.fetch_add(chunk.bytes, std::memory_order_acq_rel) + chunk.bytes;
  if (!reader && moved == transfer.bytes) parts_.route.wake(transfer.peer);
  return Step::moved;
}

Transfers::Step Transfers::leave_over(const Transfer& transfer) {
  leave(transfer);
  return Step::over;
}

}  // namespace heddle::message
