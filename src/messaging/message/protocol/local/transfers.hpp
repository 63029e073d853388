// Long messages: rendezvous, and how the data move.
//
// The sender announces a message (RTS: its size, and the address of contiguous data). When the RTS has matched, the receiver decides how
// the data are transferred. Unless it can transfer them alone, it tells the sender (CTS):
//
//   staged copy   through a ring of chunks in shared memory, one side packing while the other unpacks: between processes, of any
//                 layout (stage.hpp). With more ranks than cores a message that is not too long is staged early (staged_copy.cpp)
//   split copy    from a certain length on, if one of the buffers is contiguous (between processes, both), the two sides share the
//                 work: one claims chunks from the front, the other from the back; the receiver reads, the sender writes. A side
//                 whose threads do not poll claims no chunks (Díaz-Martín 2014, section III)
//   single copy   the receiver reads the sender's memory: from layout to layout, if the sender is a rank of the same process, else
//                 with process_vm_readv
//
// Between processes a message is either staged or copied by the kernel, whichever has been faster (copy_tuner.hpp). The kernel's copy is
// split, or single while the receiver has long messages of its own under way. With more ranks than cores the kernel copies all messages
// that are not staged early (docs/adr/0081).
//
// Memory of another process that is also mapped here (mpiexec -shared-heap) is read and written like this process' own: such messages are
// copied once, like messages between ranks of one process.
//
// Data move outside the VNI's lock. Any thread that makes progress may advance any transfer. One thread at a time advances a transfer, by
// a bounded piece.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>

#include "base/node/heap.hpp"
#include "base/threads/mutex.hpp"
#include "messaging/message/protocol/local/claims.hpp"
#include "messaging/message/protocol/local/copy_tuner.hpp"
#include "messaging/message/protocol/local/kept_stages.hpp"
#include "messaging/message/protocol/local/split.hpp"
#include "messaging/message/protocol/local/stage.hpp"
#include "messaging/message/protocol/parts.hpp"
#include "messaging/message/wire.hpp"
#include "objects/object/request.hpp"

namespace heddle {
struct Rank;
class Wakeups;
}  // namespace heddle

namespace heddle::message {

class Verdicts;

// The data that the tuner learns from a received message (copy_tuner.hpp).
struct Course {
  Copying way = Copying::by_kernel;
  bool busy = false;
  std::uint64_t began = 0;  // instruments::ticks(); 0: nothing is learnt
  bool overlaps = false;    // messages of this rank were under way at the beginning
  std::uint32_t sent = 0;   // long messages that this rank had announced by then
};

// One long message of this rank that is under way, at either end.
struct Transfer {
  enum class Role : std::uint8_t { read, split_reader, split_writer, unpacker, packer };
  Role role;
  Request* request = nullptr;
  int peer = 0;                  // world rank
  std::size_t bytes = 0;         // to move
  std::size_t position = 0;      // unpacker: bytes moved so far by this side
  std::int64_t waits_until = 0;  // staged: time until which it waits for the other side before it copies alone; 0: none
  bool can_copy_alone = false;   // staged: the kernel can copy from or to the other end's buffer
  bool early =
      false;  // staged by the sender before the match; its send waits for a FIN only if the receiver copies a part
  bool taken = false;                  // early: the receiver has copied a part itself
  node::Offset claim = node::nowhere;  // packer of an early message: the claim of its send
  bool over = false;                   // all is moved; there was no memory to complete it
  std::byte* run = nullptr;            // split and staged copy between processes: the data at this end
  std::byte* seen = nullptr;           // the peer's data, if they are contiguous and mapped here
  std::uint64_t send = 0;              // the sender's request, by its address in the sender
  std::uint64_t peer_request = 0;      // split, within a process: the address of the other end's request
  std::uint64_t peer_run = 0;          // address of the other end's data in its process, if contiguous
  pid_t process = 0;                   // of the peer; boot::this_process: a rank of this process
  node::Offset shared = node::nowhere;
  Course course{};
  Transfer* next = nullptr;
};

// The start of the data of a message that is contiguous.
std::byte* run_of(const Request& request);

class Transfers {
 public:
  enum class Step : std::uint8_t { moved, waits, over };

  // `claims`: the claims of this rank's own messages.
  Transfers(const Parts& parts, const Claims& claims);
  ~Transfers();

  // Any thread; a hint.
  bool any() const { return active_.load(std::memory_order_relaxed) != 0; }

  // With the VNI's lock held. Allocates memory, so that the next accept or cleared needs none of the process. Throws std::bad_alloc.
  void reserve();
  // accept: an RTS has matched this receive. cleared: a CTS has arrived.
  void accept(Request& receive, int peer, const LocalRts& rts, Wakeups& wakeups);
  void cleared(int peer, const LocalCts& cts, Wakeups& wakeups);
  // The wishes for an RTS to this peer, about a message of `bytes` bytes.
  std::array<Wish, 2> wishes(int peer, std::size_t bytes);
  // offer() returns a stage for the RTS of an early message; nowhere: the message is not early. When the RTS has left, begin() starts the
  // transfer; otherwise take_back() releases the stage.
  node::Offset offer(const Request& send);
  void begin(Request& send, node::Offset stage, Wakeups& wakeups);
  void take_back(int peer, node::Offset stage);
  // True: sends of this rank within the node are under way that their receivers have not taken.
  bool has_sends() const { return claims_.in_use() != 0; }
  // A long message that is not early has been announced.
  void note_sent() { ++sent_; }
  // The bytes of the node's memory that it keeps for later messages.
  std::size_t node_memory();
  // The number of early sends that are being packed.
  std::size_t staged_early() const { return staged_early_; }
  // The message of an RTS is dropped.
  void decline(const LocalRts& rts);
  // Takes the transfer of an early send of which no thread has packed anything, like claim(). Null: there is none. The caller puts it
  // back or drops it.
  Transfer* claim_untouched(const Request& send);
  void drop(Transfer& transfer);

  // Without the lock. Takes a transfer that no thread works on, moves a piece of it, and puts it back. After the last step,
  // VniState::end_transfer completes it, with the lock held.
  Transfer* claim();
  Step move(Transfer& transfer);
  void put_back(Transfer& transfer);
  // The number of transfers.
  std::uint32_t count() const { return active_.load(std::memory_order_relaxed); }

  // With the lock held. Calls end(transfer) for transfers with peers that have failed, and forgets them. False: threads are working on
  // some.
  template <class End>
  bool abandon(const Verdicts& verdicts, End&& end) {
    bool complete = false;
    Transfer* next = nullptr;
    for (Transfer* t = take_abandoned(verdicts, complete); t != nullptr; t = next) {
      next = t->next;
      end(*t);
      leave(*t);
      retire(*t);
    }
    return complete;
  }

  // There was no memory to complete the transfer after its last step: the next step will report its end again.
  void end_later(Transfer& transfer);

  // With the lock held: a message has been received.
  void learn(const Transfer& transfer);

  // With the lock held: the transfer is complete and is released.
  void retire(Transfer& transfer);

  // Orders the caller after every chunk of a split or staged copy that threads of this rank have moved. The peer, which ends the copy,
  // has seen these chunks. But that order goes through the peer's process, which the thread sanitizer does not see; this load makes it
  // visible.
  void join_chunks() const { (void)chunks_.load(std::memory_order_acquire); }

 private:
  Step read_alone(Transfer& transfer);
  Step share(Transfer& transfer);
  Step fill(Transfer& transfer);
  Step empty(Transfer& transfer);
  Step take_from_back(Transfer& transfer, Stage& stage);
  Step leave_over(const Transfer& transfer);
  Transfer* take_abandoned(const Verdicts& verdicts, bool& complete);
  void leave(const Transfer& transfer);
  bool may_be_staged_early(const Request& send);
  void keep(const KeptStages::Kept& stage);
  void release(const KeptStages::Kept& stage);
  node::Offset stage_for(int peer, std::size_t bytes);
  int error_of(const Transfer& transfer, int system_error) const;
  Course course_of(int peer, const LocalRts& rts, const CopyCase& message);
  void ask(int peer, const Transfer& transfer, LocalCopy copy, Wakeups& wakeups);
  // True: the user has not set which messages are staged.
  bool tunes() const { return settings_.staged_from == CopySettings::measured; }
  void accept_early(Request& receive, int peer, const LocalRts& rts, Wakeups& wakeups);
  bool can_read(int peer, const LocalRts& rts) const;
  bool runs_allow_split(const Request& receive, int peer, const LocalRts& rts) const;
  bool accept_staged(Request& receive, int peer, const LocalRts& rts, const Course& course, Wakeups& wakeups);
  bool accept_split(Request& receive, int peer, const LocalRts& rts, std::byte* seen, const Course& course,
                    Wakeups& wakeups);
  std::size_t chunk_of(const Transfer& transfer) const;
  int move_chunk(const Transfer& transfer, std::size_t at, std::size_t n);
  Transfer& make(Transfer::Role role, Request& request, int peer, std::size_t bytes, const Course& course = {});
  void start(Transfer& transfer, Wakeups& wakeups);

  const Parts& parts_;
  const Claims& claims_;
  const int world_rank_;
  const bool oversubscribed_;  // the other end of a transfer rarely runs at the same time
  const CopySettings settings_;
  CopyTuner tuner_;                // with the VNI's lock held, as the next five members
  std::uint64_t last_learnt_ = 0;  // time of the last message that it has learnt from
  std::uint32_t sent_ = 0;         // long messages sent so far
  std::uint32_t seen_sent_ = 0;    // oversubscribed: `sent_` when the last one was received
  bool overlapped_ = false;        // the last received message overlapped with sends of this rank
  std::size_t ring_position_ = 0;  // start of the next staged message in its ring (stage.hpp)
  threads::Mutex mutex_;           // guards the queue and the stages; held for a few instructions
  Transfer* head_ = nullptr;
  Transfer* tail_ = nullptr;
  KeptStages kept_;
  std::atomic<std::uint32_t> active_{0};
  std::atomic<std::uint32_t> chunks_{0};
  Transfer* free_ = nullptr;   // with the VNI's lock held, as the next members
  std::deque<Transfer> made_;  // all transfers: those in use and the free ones
  std::size_t staged_early_ = 0;
};

}  // namespace heddle::message
