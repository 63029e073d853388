#include "messaging/message/transfer.hpp"

#include <errno.h>
#include <mpi-ext.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "base/instruments/ticks.hpp"
#include "base/platform/native.hpp"
#include "launch/boot/peer_memory.hpp"
#include "launch/rank/rank.hpp"
#include "launch/rank/settings.hpp"
#include "messaging/message/core.hpp"
#include "messaging/message/verdicts.hpp"
#include "objects/datatype/datatype.hpp"
#include "objects/object/error.hpp"

namespace heddle::message {

using boot::Direction;
using boot::move_bytes;
using boot::this_process;
using lln::Header;
using lln::MessageKind;
using node::nowhere;

namespace {

const Request& request_at(std::uint64_t address) { return *reinterpret_cast<const Request*>(address); }

// A variable that says from how many bytes on copies are of some kind.
bool wanted_bytes(const char* variable, std::size_t otherwise, std::size_t& bytes) {
  const std::string wanted = setting(variable);
  bytes = otherwise;
  if (wanted.empty()) return true;
  if (wanted == "never") {
    bytes = std::numeric_limits<std::size_t>::max();
    return true;
  }
  const auto [end, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), bytes);
  if (error == std::errc() && end == wanted.data() + wanted.size()) return true;
  (void)fail(MPI_ERR_ARG, "%s=%s is neither a number of bytes nor 'never'", variable, wanted.c_str());
  return false;
}

}  // namespace

std::byte* run_of(const Request& request) {
  return static_cast<std::byte*>(run_start(*request.datatype, request.buffer));
}

bool wanted_split(std::size_t& bytes) { return wanted_bytes("HEDDLE_SPLIT_COPY", split_bytes, bytes); }
bool wanted_staged(std::size_t& bytes) { return wanted_bytes("HEDDLE_STAGED_COPY", 0, bytes); }

Transfers::Transfers(Core& core, int world_rank, bool oversubscribed)
    : core_(core),
      world_rank_(world_rank),
      oversubscribed_(oversubscribed),
      chooses_(setting("HEDDLE_STAGED_COPY").empty()) {
  (void)wanted_split(split_from_);  // the engine has seen that they are well formed
  (void)wanted_staged(staged_from_);
}

Transfers::~Transfers() {
  for (KeptStages::Kept kept; (kept = kept_.take()).stage != nowhere;) release(kept);
  while (Transfer* t = free_) {
    free_ = t->next;
    delete t;
  }
}

// ---- beginnings, under the VNI's protection

void Transfers::accept(Request& receive, int peer, const Rts& rts, Wakeups& wakeups) {
  if (rts.stage != nowhere) return accept_eager(receive, peer, rts, wakeups);
  const std::size_t bytes = receive.bytes;
  const bool readable = bytes == 0 || can_read(peer, rts);
  const bool far = !core_.peer_memory().same_space(peer);
  std::byte* const seen = far && bytes != 0 ? core_.peer_memory().see(peer, rts.address, bytes) : nullptr;
  const bool splits = readable && bytes != 0 && bytes >= split_from_ && can_split(receive, peer, rts);
  Course course;
  if (far && seen == nullptr && bytes != 0) course = course_of(peer, rts, bytes, readable, splits);
  if (course.way == Copying::staged && accept_staged(receive, peer, rts, course, wakeups)) return;
  course.way = Copying::by_kernel;  // or there is no memory that both see
  if (splits && !course.busy && accept_split(receive, peer, rts, seen, course, wakeups)) return;
  Transfer& transfer = make(Transfer::Role::read, receive, peer, bytes, course);
  transfer.sender_request = rts.request;
  if (readable) {
    transfer.remote_address = rts.address;
    transfer.process = core_.peer_memory().process_of(peer);
    transfer.seen = seen;
  } else {
    // Without shared memory there is no other way; the sender must not wait for ever.
    receive.error = MPI_ERR_NO_MEM;
    receive.bytes = transfer.bytes = 0;
  }
  start(transfer, wakeups);
}

// Between processes. By the kernel means that both sides share the copying, or, while this rank has messages of its own under way, that it
// reads alone. If it has none and they cannot share, the message is staged: to read alone would leave the sender with nothing to do.
// Who exchanges messages may receive one before it has sent its own, so it is busy, too, if the one before overlapped with what it sends: else
// some messages would go this way and some that way, which is slower than either (docs/adr/0084).
// With more ranks than cores nothing is learnt, and a rank that sends long messages between those that it receives is busy, whether or not one
// is under way just now (docs/adr/0081).
Course Transfers::course_of(int peer, const Rts& rts, std::size_t bytes, bool readable, bool splits) {
  if (!readable) return {Copying::staged};
  if (!chooses_) return {bytes >= staged_from_ ? Copying::staged : Copying::by_kernel};
  const bool overlaps = core_.has_announced();
  if (oversubscribed_) return {Copying::by_kernel, overlaps || sent_ != std::exchange(seen_sent_, sent_)};
  const bool busy = overlaps || overlapped_;
  if (!busy && !splits) return {Copying::staged};
  const Wish theirs = peer < world_rank_ ? rts.wishes[busy ? 1 : 0] : Wish::none;
  const Copying way = theirs == Wish::none     ? choice_.choose({bytes, busy})
                      : theirs == Wish::staged ? Copying::staged
                                               : Copying::by_kernel;
  return {way, busy, instruments::ticks(), overlaps, sent_};
}

std::array<Wish, 2> Transfers::wishes(int peer, std::size_t bytes) {
  if (world_rank_ > peer) return {};
  return {choice_.wish({bytes, false}), choice_.wish({bytes, true})};
}

// Of several that are under way each is charged with what it took since the one before had come.
void Transfers::learn(const Transfer& transfer) {
  const Course& course = transfer.course;
  if (course.began == 0 || transfer.request->error != MPI_SUCCESS) return;
  overlapped_ = course.overlaps || sent_ != course.sent;
  const std::uint64_t now = instruments::ticks();
  choice_.note({transfer.bytes, course.busy}, course.way, now - std::max(course.began, last_learnt_));
  last_learnt_ = now;
}

// False: there is no shared memory.
bool Transfers::accept_split(Request& receive, int peer, const Rts& rts, std::byte* seen, const Course& course,
                             Wakeups& wakeups) {
  const node::Offset shared = core_.heap().allocate(sizeof(Split), 2);
  if (shared == nowhere) return false;
  new (core_.heap().at<Split>(shared)) Split{};
  Transfer& transfer = make(Transfer::Role::split_reader, receive, peer, receive.bytes, course);
  transfer.process = core_.peer_memory().process_of(peer);
  const bool near = transfer.process == this_process;
  if (!near) transfer.run = run_of(receive);
  transfer.sender_request = rts.request;
  transfer.remote_address = near ? rts.request : rts.address;
  transfer.seen = seen;
  transfer.shared = shared;
  const void* const ours = near ? static_cast<const void*>(&receive) : transfer.run;
  const Cts cts{rts.request, reinterpret_cast<std::uint64_t>(ours), receive.bytes, shared, Protocol::split};
  core_.send_control(peer, Header{MessageKind::cts, 0, 0, 0}, &cts, sizeof cts, wakeups);
  start(transfer, wakeups);
  return true;
}

void Transfers::cleared(int peer, const Cts& cts, Wakeups& wakeups) {
  reserve();  // or the answer stays where it is
  auto& request = *reinterpret_cast<Request*>(cts.request);
  const bool split = cts.protocol == Protocol::split;
  boot::PeerMemory& memory = core_.peer_memory();
  core_.heap().join(cts.shared);
  if (split && !memory.within_reach(peer)) {  // it does without us
    core_.heap().release(cts.shared, sizeof(Split));
    return;
  }
  Transfer& transfer = make(split ? Transfer::Role::split_writer : Transfer::Role::packer, request, peer, cts.bytes);
  transfer.remote_address = cts.address;
  transfer.alone = !split && cts.address != 0 && is_run(*request.datatype, request.count) && memory.within_reach(peer);
  if (split || transfer.alone) {
    transfer.process = memory.process_of(peer);
    if (transfer.process != this_process) transfer.run = run_of(request);
    if (split && transfer.process != this_process) transfer.seen = memory.see(peer, cts.address, cts.bytes);
  }
  transfer.shared = cts.shared;
  start(transfer, wakeups);
}

// Within a process, whatever its layout.
bool Transfers::can_read(int peer, const Rts& rts) const {
  boot::PeerMemory& memory = core_.peer_memory();
  return memory.same_space(peer) || (rts.address != 0 && memory.within_reach(peer));
}

bool Transfers::can_split(const Request& receive, int peer, const Rts& rts) const {
  const bool run = is_run(*receive.datatype, receive.count);
  if (!core_.peer_memory().same_space(peer)) return run && rts.address != 0;
  const Request& send = request_at(rts.request);
  return run || is_run(*send.datatype, send.count);
}

void Transfers::reserve() {
  if (free_ == nullptr) free_ = new Transfer;
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
  core_.wake_blocked(wakeups);  // the caller may go on to something else
}

// Those that nobody is at work on, as a list.
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
    const bool over = t->over || (t->role == Transfer::Role::read && t->bytes == 0);  // but for telling the peer
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

// Of a copy that the kernel has refused: the process may have died just now, before anybody has told us.
int Transfers::error_of(const Transfer& transfer, int system_error) const {
  const bool died = system_error == ESRCH && core_.survives_failures() && transfer.process != this_process;
  return died ? MPIX_ERR_PROC_FAILED : MPI_ERR_OTHER;
}

void Transfers::end_later(Transfer& transfer) {
  transfer.over = true;
  put_back(transfer);
}

void Transfers::retire(Transfer& transfer) {
  if (transfer.eagerly && transfer.role == Transfer::Role::packer) --packed_eagerly_;
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

// ---- moving data, outside the protection

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
    const Request& send = request_at(transfer.sender_request);
    copy(*send.datatype, send.buffer, send.count, *request.datatype, request.buffer, request.count);
    return Step::over;
  }
  if (transfer.seen != nullptr) {
    unpack(*request.datatype, request.buffer, request.count, 0, transfer.seen, transfer.bytes);
    return Step::over;
  }
  int error = 0;
  if (is_run(*request.datatype, request.count)) {
    error = move_bytes(Direction::read, transfer.process, run_of(request), transfer.remote_address, transfer.bytes);
  } else {
    // Into a piece that stays in the cache, and from there to where the layout wants it.
    alignas(64) std::byte piece[8 * 1024];  // of a stack that may be small: user-level threads come here too
    for (std::size_t at = 0; at < transfer.bytes && error == 0; at += sizeof piece) {
      const std::size_t n = std::min(sizeof piece, transfer.bytes - at);
      error = move_bytes(Direction::read, transfer.process, piece, transfer.remote_address + at, n);
      if (error == 0) unpack(*request.datatype, request.buffer, request.count, at, piece, n);
    }
  }
  if (error != 0) request.error = error_of(transfer, error);
  return Step::over;
}

// As much as one claims at a time. A message by itself is shared finely, so that its last chunk is not waited for long, and so that
// each side has its part; between processes a chunk is a system call that pins pages, and it is shared in halves. Of several that
// are under way each side does well to take other ones, whole, since what two cores write to comes dearer to both.
std::size_t Transfers::chunk_of(const Transfer& transfer) const {
  if (count() > 1) return split_chunk;
  const std::size_t parts = transfer.process == this_process || transfer.seen != nullptr ? 4 : 2;
  return std::clamp(transfer.bytes / parts / Split::unit * Split::unit, least_split_chunk, split_chunk);
}

// Bytes [at, at + n) of the message, from whichever end; 0 or an errno.
int Transfers::move_chunk(const Transfer& transfer, std::size_t at, std::size_t n) {
  const bool reader = transfer.role == Transfer::Role::split_reader;
  if (transfer.seen != nullptr) {
    std::memcpy(reader ? transfer.run + at : transfer.seen + at, reader ? transfer.seen + at : transfer.run + at, n);
    return 0;
  }
  if (transfer.process != this_process)
    return move_bytes(reader ? Direction::read : Direction::write, transfer.process, transfer.run + at,
                      transfer.remote_address + at, n);
  const Request& request = *transfer.request;
  const Request& peers = request_at(transfer.remote_address);
  const Request& send = reader ? peers : request;
  const Request& receive = reader ? request : peers;
  if (is_run(*send.datatype, send.count)) {
    unpack(*receive.datatype, receive.buffer, receive.count, at, run_of(send) + at, n);
  } else {
    pack(*send.datatype, send.buffer, send.count, at, run_of(receive) + at, n);
  }
  return 0;
}

// Both ends run this; the reader stays until the writer's last chunk is there too.
Transfers::Step Transfers::share(Transfer& transfer) {
  auto& split = *core_.heap().at<Split>(transfer.shared);
  const bool reader = transfer.role == Transfer::Role::split_reader;
  // The writer touches requests within a process only, while it has a chunk: the reader may have finished everything, and FIN
  // be here.
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
  if (!reader && moved == transfer.bytes) core_.route().wake(transfer.peer);
  return Step::moved;
}

Transfers::Step Transfers::leave_over(const Transfer& transfer) {
  leave(transfer);
  return Step::over;
}

}  // namespace heddle::message
