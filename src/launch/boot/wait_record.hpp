// The record of a blocked thread's wait, in the job's segment, where mpiexec reads it when the user requests a report:
// the rank itself may be unable to answer by then.
//
// A thread, of the kernel or of a user-level runtime, writes a slot when its wait has become a long one
// (messaging/engine/blocked.hpp) and frees it at the end of the wait. mpiexec reads slots at any time; the version of a slot
// shows a change meanwhile. A thread that finds no free slot is only counted.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/platform/native.hpp"

namespace heddle::boot {

enum class Awaited : std::uint8_t {
  unknown,             // a request of a kind without further data
  message,             // from `peer` with `tag`, either of which may be a wildcard
  delivery,            // of a message to `peer`, with `tag`
  probed,              // the same as `message`, by a probe
  operation_message,   // from `peer`, within a blocking collective
  operation_delivery,  // to `peer`, within a blocking collective
  operation,           // a nonblocking or persistent collective
  members,             // in a collective over shared memory: every member
  behind,              // ... members that have not finished an earlier one, whose memory it needs
  root,                // ... its root, `peer`
  partitions,          // a partitioned operation
  target_lock,         // a lock of the window's member `peer`; -1: of all
  target_post,         // MPI_Win_post of the window's member `peer`
  exchange,            // a send and a receive in one
  origins,             // MPI_Win_complete of the window's origins
  target_answer,       // of the window's member `peer`, by message; -1: of several
  leader,              // in a collective over several nodes: of `peer`, the leader of this one
};

// `peer` and `member` are ranks of the communicator unless a comment says otherwise; `peer` of a delivery is a world
// rank.
struct Wait {
  std::uint64_t context = 0;  // of the communicator (objects/object/comm.hpp)
  std::int64_t since = 0;     // CLOCK_MONOTONIC in nanoseconds
  std::uint64_t progress =
      0;  // of `members`, `behind`, `root` and `leader`: offset of MemberProgress, from node 0's heap on
  std::int32_t peer = -1;
  std::int32_t tag = -1;
  std::int32_t member =
      -1;  // the caller; of `members`, `behind`, `root` and `leader` among those that share the memory
  std::int32_t members = 0;     // of the communicator, or that share the memory; 0: unknown
  std::uint32_t operation = 0;  // of `members`, `root` and `leader`: its number
  std::uint32_t requests = 0;   // the number of incomplete ones; the fields above describe the first
  std::uint16_t call = 0;       // binding's number
  Awaited what = Awaited::unknown;
  bool user_level = false;
  bool any = false;  // one of the requests is enough
  char unused[3] = {};
};
static_assert(sizeof(Wait) == 56);

class alignas(64) WaitSlot {
 public:
  // False: another thread has it.
  bool take(std::uint32_t thread, const Wait& wait) {
    std::uint32_t free = 0;
    if (owner_.load(std::memory_order_relaxed) != 0 ||
        !owner_.compare_exchange_strong(free, thread, std::memory_order_acquire))
      return false;
    write(wait);
    return true;
  }
  void give_back() {
    write({});
    owner_.store(0, std::memory_order_release);
  }

  // 0: free, or just changing. Else the kernel's id of the thread that filled it; of a user-level thread, of its
  // carrier.
  std::uint32_t read(Wait& wait) const {
    const std::uint32_t thread = owner_.load(std::memory_order_acquire);
    const std::uint32_t version = version_.load(std::memory_order_acquire);
    Words words;
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = words_[i].load(std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_acquire);
    const bool whole = version % 2 == 0 && version_.load(std::memory_order_relaxed) == version;
    wait = std::bit_cast<Wait>(words);
    return whole && wait.since != 0 ? thread : 0;
  }

 private:
  using Words = std::array<std::uint64_t, sizeof(Wait) / sizeof(std::uint64_t)>;

  void write(const Wait& wait) {
    const auto words = std::bit_cast<Words>(wait);
    const std::uint32_t version = version_.load(std::memory_order_relaxed);
    version_.store(version + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    for (std::size_t i = 0; i < words.size(); ++i) words_[i].store(words[i], std::memory_order_relaxed);
    version_.store(version + 2, std::memory_order_release);
  }

  std::atomic<std::uint32_t> owner_;
  std::atomic<std::uint32_t> version_;  // odd: being written
  std::atomic<std::uint64_t> words_[sizeof(Wait) / sizeof(std::uint64_t)];
};
static_assert(sizeof(WaitSlot) == 64);

// A communicator's name.
class alignas(64) ContextName {
 public:
  static constexpr std::size_t longest = 55;  // characters; the rest is cut off

  // One thread at a time.
  void set(std::uint64_t context, std::string_view name) {
    context_.store(0, std::memory_order_release);
    std::atomic_thread_fence(std::memory_order_release);
    for (std::size_t i = 0; i <= longest; ++i)
      text_[i].store(i < name.size() && i < longest ? name[i] : '\0', std::memory_order_relaxed);
    context_.store(context + 1, std::memory_order_release);
  }
  void clear() { context_.store(0, std::memory_order_release); }
  bool is_free() const { return context_.load(std::memory_order_relaxed) == 0; }
  bool is_of(std::uint64_t context) const { return context_.load(std::memory_order_acquire) == context + 1; }
  void read(char (&text)[longest + 1]) const {
    for (std::size_t i = 0; i <= longest; ++i) text[i] = text_[i].load(std::memory_order_relaxed);
    text[longest] = '\0';
  }

 private:
  std::atomic<std::uint64_t> context_;  // + 1; 0: free
  std::atomic<char> text_[longest + 1];
};
static_assert(sizeof(ContextName) == 64);

// The progress of a member of a communicator in its collectives over shared memory, and the place of its deposits
// (mpi/coll/node/region.hpp). In the heap.
struct MemberProgress {
  struct Note {
    std::atomic<std::uint64_t> what;  // the operation's number, and in the low bits its kind
    std::atomic<std::uint64_t> bytes;
  };
  static constexpr int kind_bits = 4;

  alignas(64) platform::Native::atomic<std::uint32_t> finished;  // the last operation that it has completed
  platform::Native::atomic<std::uint32_t> filled;                // the last one whose deposit can be read
  Note notes[2];      // its description of the last two operations; not of barriers
  std::int32_t rank;  // in the communicator
  std::int32_t job_rank;
  std::atomic<std::uint64_t> deposits;  // their offset in the heap; 0: there are none
};
static_assert(sizeof(MemberProgress) == 64);

}  // namespace heddle::boot
