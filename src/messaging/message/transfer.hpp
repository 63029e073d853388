// Long messages: rendezvous, and how the data move.
//
// The sender announces it (RTS: size, and the address if its data are one run). When the RTS has matched, the receiver
// decides how the data travel and, unless it can do it alone, tells the sender (CTS):
//
//   staged copy   through a ring of chunks in shared memory, one side packing while the other unpacks: between processes, of any
//                 layout (stage.hpp). With more ranks than cores one that is not too long is staged eagerly (staged.cpp)
//   split copy    from so many bytes on, if one of the buffers is a run (between processes, both), the two sides share the work: one
//                 claims chunks from the front, the other from the back, the receiver reads, the sender writes; whoever is not there
//                 simply claims none (Díaz-Martín 2014, section III)
//   single copy   the receiver reads the sender's memory: from layout to layout, if the sender is a rank of the same process, else with
//                 process_vm_readv
//
// Between processes a message is staged, or copied by the kernel, whichever has been faster (copy_choice.hpp): split, or singly while the
// receiver has long messages of its own under way. With more ranks than cores the kernel copies what has not come eagerly (docs/adr/0081).
//
// The memory of another process that is mapped here, too (mpiexec -shared-heap), is read and written like one's own: such messages are copied
// once, as those of ranks of one process are.
//
// Data move outside the VNI's protection. Any thread that makes progress may advance any transfer, one thread each at a
// time, a bounded piece at a time.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "base/node/heap.hpp"
#include "base/threads/mutex.hpp"
#include "messaging/message/copy_choice.hpp"
#include "messaging/message/kept_stages.hpp"
#include "messaging/message/split.hpp"
#include "messaging/message/stage.hpp"
#include "objects/object/request.hpp"

namespace heddle {
struct Rank;
class Wakeups;
}  // namespace heddle

namespace heddle::message {

class Core;
class Verdicts;

struct Rts {              // payload of an RTS
  std::uint64_t bytes;    // of the message
  std::uint64_t request;  // the sender's request, to be given back in CTS and FIN
  std::uint64_t address;  // of the data if they are one run, else 0
  node::Offset claim;
  std::array<Wish, 2> wishes;  // while the receiver has no long messages of its own under way, and while it has
  node::Offset stage;          // of a message that goes eagerly, else nowhere
};

struct Acknowledged {     // begins the payload of an eager_ack
  std::uint64_t request;  // the sender's, to be given back in FIN
  node::Offset claim;
};

enum class Protocol : std::uint32_t { split, staged, stream, direct };

struct Cts {              // payload of a CTS
  std::uint64_t request;  // the sender's
  std::uint64_t
      address;  // split, staged: of the receiver's buffer, within a process of its request; stream, direct: its name
  std::uint64_t bytes;  // to be moved, which is less than offered if the receiver has less room
  node::Offset shared;  // Split or Stage
  Protocol protocol;
};

// The longest message that is sent eagerly to a rank of the same process, where asking saves one of two copies.
inline constexpr std::size_t near_eager_bytes = 4 * 1024;
inline constexpr std::size_t split_bytes = 32 * 1024;  // unless HEDDLE_SPLIT_COPY says otherwise
inline constexpr std::size_t split_chunk = 128 * 1024;
inline constexpr std::size_t least_split_chunk = 16 * 1024;

// What is to be learnt of a message that is received (copy_choice.hpp).
struct Course {
  Copying way = Copying::by_kernel;
  bool busy = false;
  std::uint64_t began = 0;  // instruments::ticks(); 0: nothing is
  bool overlaps = false;    // messages of this rank were under way when it began
  std::uint32_t sent = 0;   // long ones that it had announced by then
};

// One long message of this rank that is on its way, at either end.
struct Transfer {
  enum class Role : std::uint8_t { read, split_reader, split_writer, unpacker, packer };
  Role role;
  Request* request = nullptr;
  int peer = 0;                  // world rank
  std::size_t bytes = 0;         // to move
  std::size_t position = 0;      // unpacker: moved so far, by itself
  std::int64_t waits_until = 0;  // staged: for the other, before it copies alone; 0: it does not wait
  bool alone = false;            // staged: it can
  bool eagerly = false;  // staged: by the sender, who finishes alone unless the receiver has taken some of it by itself
  bool taken = false;    // eagerly: it has
  node::Offset claim = node::nowhere;  // packer of a message that goes eagerly: its send's
  bool over = false;                   // and only to be concluded: there was no memory for that
  std::byte* run = nullptr;            // split and staged copy between processes: the data at our end
  std::byte* seen = nullptr;           // the peer's run, if we see it where it is
  std::uint64_t sender_request = 0;
  std::uint64_t remote_address = 0;  // of the peer's run; within a process, of its request
  pid_t process = 0;                 // the peer's; boot::this_process: it is a rank of ours
  node::Offset shared = node::nowhere;
  Course course{};
  Transfer* next = nullptr;
};

// What HEDDLE_SPLIT_COPY asks for: from how many bytes on copies are split. False, and a sentence in error_detail(), if it is
// neither a number nor `never`. And HEDDLE_STAGED_COPY: from how many bytes on copies between processes are staged; where it asks for
// nothing the fastest way is taken (copy_choice.hpp).
bool wanted_split(std::size_t& bytes);
bool wanted_staged(std::size_t& bytes);

// Where the data lie of a message that is one run.
std::byte* run_of(const Request& request);

class Transfers {
 public:
  enum class Step : std::uint8_t { moved, waits, over };

  // `oversubscribed`: the machine has more ranks than cores, so that the other side of a transfer is hardly ever at work at the same time.
  Transfers(Core& core, int world_rank, bool oversubscribed);
  ~Transfers();

  // Any thread; a hint.
  bool any() const { return active_.load(std::memory_order_relaxed) != 0; }

  // Under the VNI's protection. The next accept or cleared will need no memory of the process; throws std::bad_alloc.
  void reserve();
  // An RTS has matched this receive; its CTS has come.
  void accept(Request& receive, int peer, const Rts& rts, Wakeups& wakeups);
  void cleared(int peer, const Cts& cts, Wakeups& wakeups);
  // What an RTS of so many bytes to the peer shall tell.
  std::array<Wish, 2> wishes(int peer, std::size_t bytes);
  // A stage for a message that goes eagerly, for its RTS; nowhere: it is to be asked for. With the RTS on its way it begins; or it is taken back.
  node::Offset offer(const Request& send);
  void begin(Request& send, node::Offset stage, Wakeups& wakeups);
  void take_back(int peer, node::Offset stage);
  // A long message has been announced that does not go eagerly.
  void note_sent() { ++sent_; }
  // How many sends that go eagerly are being packed.
  std::size_t packed_eagerly() const { return packed_eagerly_; }
  // What an RTS brings is not wanted.
  void decline(const Rts& rts);
  // The transfer of a send that goes eagerly, of which nobody has packed anything, as claim() gives it; null: there is none. To be put back, or
  // dropped.
  Transfer* claim_untouched(const Request& send);
  void drop(Transfer& transfer);

  // Not under protection. Takes a transfer that nobody works on, moves a piece of it, and puts it back, unless the step
  // was the last: then Core::end_transfer, under protection, concludes it.
  Transfer* claim();
  Step move(Transfer& transfer);
  void put_back(Transfer& transfer);
  // How many there are to go round.
  std::uint32_t count() const { return active_.load(std::memory_order_relaxed); }

  // Under protection: forgets those with peers that have failed, by end(transfer). False: threads are at work on some.
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

  // What its last step has said could not be concluded for want of memory: the next step says so again.
  void end_later(Transfer& transfer);

  // Under protection: a message has been received.
  void learn(const Transfer& transfer);

  // Under protection: the transfer is over and forgotten.
  void retire(Transfer& transfer);

  // Behind every chunk of a split or staged copy that threads of this rank have moved. The peer, who ends the copy, knows of them; but the
  // order went through its process, which the thread sanitizer does not see; here it does.
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
  bool may_be_staged_eagerly(const Request& send);
  void keep(const KeptStages::Kept& stage);
  void release(const KeptStages::Kept& stage);
  node::Offset stage_for(int peer, std::size_t bytes);
  int error_of(const Transfer& transfer, int system_error) const;
  Course course_of(int peer, const Rts& rts, std::size_t bytes, bool readable, bool splits);
  void accept_eager(Request& receive, int peer, const Rts& rts, Wakeups& wakeups);
  bool can_read(int peer, const Rts& rts) const;
  bool can_split(const Request& receive, int peer, const Rts& rts) const;
  bool accept_staged(Request& receive, int peer, const Rts& rts, const Course& course, Wakeups& wakeups);
  bool accept_split(Request& receive, int peer, const Rts& rts, std::byte* seen, const Course& course,
                    Wakeups& wakeups);
  std::size_t chunk_of(const Transfer& transfer) const;
  int move_chunk(const Transfer& transfer, std::size_t at, std::size_t n);
  Transfer& make(Transfer::Role role, Request& request, int peer, std::size_t bytes, const Course& course = {});
  void start(Transfer& transfer, Wakeups& wakeups);

  Core& core_;
  const int world_rank_;
  const bool oversubscribed_;
  std::size_t split_from_ = split_bytes;
  std::size_t staged_from_ = 0;
  bool chooses_;                   // between processes: nobody has said which messages are staged
  CopyChoice choice_;              // under the VNI's protection, as is
  std::uint64_t last_learnt_ = 0;  // when it has learnt something
  std::uint32_t sent_ = 0;         // long messages, all in all
  std::uint32_t seen_sent_ = 0;    // oversubscribed: when it received the last one
  bool overlapped_ = false;        // the last one that was received, with what this rank sends
  std::size_t ring_position_ = 0;  // where the next staged message begins in its ring (stage.hpp)
  threads::Mutex mutex_;           // of the queue and the stages; held for a few instructions
  Transfer* head_ = nullptr;
  Transfer* tail_ = nullptr;
  KeptStages kept_;
  std::atomic<std::uint32_t> active_{0};
  std::atomic<std::uint32_t> chunks_{0};
  Transfer* free_ = nullptr;  // under the VNI's protection, as is
  std::size_t packed_eagerly_ = 0;
};

}  // namespace heddle::message
