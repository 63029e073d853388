// The boot part of a job's shared segment, through which the ranks of a node and their launcher communicate.
//
// mpiexec makes one memfd for a job and every rank inherits it; under another launcher the first rank of each node
// makes one (launched/). There is no file, so nothing remains after the job. The segment is sparse: a page exists once
// a process has touched it.
//
//     0            JobHeader
//     header size  first ranks of the nodes, and behind the last one the number of ranks
//     then         the launcher's numbers of rank 0, rank 1, ...; only if they differ
//     then         RankRecord of rank 0, of rank 1, ...        written by the rank, read by mpiexec
//     then         Card of rank 0, of rank 1, ...              written by the rank, read by the others
//     then         Board                                       open ports and published names
//     then         SharedComms                                 communicators that outlive some of their members
//     then         FailureLog and its entries                  written by mpiexec, read by all ranks
//     heap_offset  the memory of node first_node, ...          boot knows only its place and size
//     then         DecidedComms (decided.hpp)                  if mpiexec simulates nodes
//
// Every field that two processes access while the job runs is a lock-free atomic; the others are written by the creator
// of the segment, before any rank sees it, and never again. A rank that dies leaves its record unchanged: mpiexec reads
// from it how far the rank had come and which call it was in.
//
// A job that mpiexec has started on one node has room for ranks that are started later (MPI_Comm_spawn): a rank is one
// of `capacity`, of which `size` begin with the job, and each group of spawned ranks is the next few numbers and has
// its own MPI_COMM_WORLD. A number is not used again.
//
// Every rank of the job has a record and a card. Where a node has a segment of its own the records of other nodes'
// ranks stay empty, and their cards are copies, which are fetched on request.
#pragma once

#include <signal.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/platform/native.hpp"
#include "base/sync/robust_lock.hpp"
#include "launch/boot/wait_record.hpp"
#include "network/keyed_hash.hpp"

namespace heddle::boot {

inline constexpr std::uint64_t job_magic = 0x6a6f622e68656464;  // "job.hedd"
inline constexpr std::uint32_t job_layout = 15;                 // grows with every change of the layout below
inline constexpr std::size_t page_bytes = 4096;

// The environment of a rank. The library removes `job_fd_variable` from its environment when it joins, so that an MPI
// program which a rank starts by itself is a singleton and not a second rank with the same number.
inline constexpr char job_fd_variable[] = "HEDDLE_JOB_FD";
inline constexpr char launcher_variable[] = "HEDDLE_LAUNCHER";  // pid of mpiexec: the second way to the segment
inline constexpr char rank_variable[] = "HEDDLE_RANK";
inline constexpr char size_variable[] = "HEDDLE_SIZE";
// A rank's number among those that its mpiexec starts on this machine, and how many these are: by our name, and by those
// that scripts for Open MPI and for Intel MPI read.
inline constexpr const char* local_rank_variables[] = {"HEDDLE_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK",
                                                       "MPI_LOCALRANKID"};
inline constexpr const char* local_size_variables[] = {"HEDDLE_LOCAL_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE",
                                                       "MPI_LOCALNRANKS"};

// True if the job survives failed ranks; read by mpiexec.
inline constexpr char fault_tolerance_variable[] = "HEDDLE_FAULT_TOLERANCE";
inline constexpr char remote_shell_variable[] = "HEDDLE_REMOTE_SHELL";
inline constexpr char shared_heap_variable[] = "HEDDLE_SHARED_HEAP";
// Its values, of which Open MPI has several.
inline bool asks_to_survive(std::string_view word) { return word == "ulfm" || word == "mpi" || word == "true"; }

// The initial error handler of communicators: a value of the info key mpi_initial_errhandler (MPI 5.0, section 11.8.4),
// also mpiexec's option -initial-errhandler.
inline constexpr char initial_errhandler_variable[] = "HEDDLE_INITIAL_ERRHANDLER";
inline constexpr const char* initial_errhandlers[] = {"mpi_errors_are_fatal", "mpi_errors_abort", "mpi_errors_return"};

enum class RankState : std::uint32_t {
  not_started,
  running,  // the program runs, MPI is not initialized (and perhaps never will be)
  inited,   // between the first initialization and the last finalization
  finalized,
  aborted,  // by MPI_Abort or a fatal error; abort_code and abort_text hold the reason
  exited,   // exited without a fault before it ever initialized MPI
};

// The state of one thread of a rank. A record belongs to one thread as long as that thread lives.
struct alignas(64) ThreadRecord {
  // the low 16 bits: the MPI call that it is in; the others: the number of calls so far
  std::atomic<std::uint64_t> calls;
  std::atomic<std::uint32_t> owner;  // kernel's id of the thread; 0: the record is free
};
static_assert(sizeof(ThreadRecord) == 64);

// Binding's number of the call; 0: outside MPI. In one word with the count, so that entering and leaving a call are one
// store each.
constexpr std::uint16_t call_of(std::uint64_t calls) { return static_cast<std::uint16_t>(calls); }
constexpr std::uint64_t in_call(std::uint64_t calls, std::uint16_t call) { return (calls & ~0xffffull) | call; }
constexpr std::uint64_t next_call(std::uint64_t calls, std::uint16_t call) { return in_call(calls + 0x10000, call); }

inline constexpr int thread_records = 128;       // threads beyond these are only counted
inline constexpr int wait_slots = 512;           // blocked threads beyond these are only counted
inline constexpr int context_names = 64;         // communicators beyond these are numbered in messages
inline constexpr std::size_t calls_shown = 768;  // numbers of calls, binding's
inline constexpr int abort_text_bytes = 832;

struct alignas(64) RankRecord {
  std::atomic<RankState> state;
  // The process that joined (a wrapper script may be its parent), or the rank's thread.
  std::atomic<std::int32_t> pid;
  std::atomic<std::int32_t> abort_code;
  std::int32_t appnum;     // the index of its program in `mpiexec a : b : c`
  std::int32_t app_ranks;  // ranks of that program
  std::int32_t cores;      // cores this rank may use: its affinity, or its part of the common cores
  std::int32_t bound;      // 1: `cores` are its own, 0: they are a part of the common cores
  // The end of a rank that is a thread, since its process goes on: ended(wait status); 0: it runs, or is a process.
  std::atomic<std::int32_t> end;
  std::int32_t host;                      // the first rank of its process: the same for ranks that are threads of one
  std::atomic<std::uint32_t> user_level;  // 1: its process has user-level threads, see `suspended`
  // Its process as that process sees its own id, 0 before it has joined; a random number in that process' memory, and
  // its address there (peer_memory.hpp).
  std::atomic<std::int32_t> process;
  // In the record of a `host`: the first of its ranks to join, plus 1.
  std::atomic<std::int32_t> first_of_host;
  std::atomic<std::uint64_t> key;
  std::atomic<std::uint64_t> key_address;
  std::atomic<std::uint32_t> threads_without_record;
  std::atomic<std::uint32_t> waits_without_slot;
  std::atomic<std::uint32_t> slots_used;  // slots behind these have never been used
  // For a spawned rank, written before it is started: its MPI_COMM_WORLD, the rank that has called spawn (the root of
  // the call), the context in which that one will connect, and the number of the call; `world_size` is 0 for all
  // others.
  std::int32_t world_first;
  std::int32_t world_size;
  std::int32_t spawned_by;
  std::int32_t spawn_number;  // from 1 on
  std::uint64_t greeting;
  // The large blocks of its process's heap, if peers may map them (shared_heap/): their address there, 0 if they may
  // not, and the file's descriptor there. The first page of the file begins with `key`.
  std::atomic<std::uint64_t> heap_address;
  std::int32_t heap_file;
  char reserved[4];
  std::atomic<std::uint64_t> memory_address;  // the address of the node's memory in its process
  char abort_text[abort_text_bytes];          // complete before `state` becomes aborted
  char padding[64];  // separates the threads' lines from the cold text (adjacent-line prefetch)
  ThreadRecord threads[thread_records];
  // User-level threads that are suspended, by the call they are in; as base/threads/carried.hpp counts them.
  std::atomic<std::uint64_t> suspended[calls_shown];
  ContextName names[context_names];
  WaitSlot waits[wait_slots];
};
static_assert(sizeof(RankRecord) % 64 == 0);
static_assert(sizeof(RankRecord) == 1024 + thread_records * sizeof(ThreadRecord) + calls_shown * sizeof(std::uint64_t) +
                                        context_names * sizeof(ContextName) + wait_slots * sizeof(WaitSlot));

constexpr int suspended_now(std::uint64_t word) { return static_cast<int>(word & 0xffffffff); }

inline constexpr int agreed_words = 16;  // words that ranks can agree on; see agree() in world.hpp

// The published data of a rank, one entry behind the other; an entry never changes.
inline constexpr std::size_t card_bytes = 16 * 1024;
struct alignas(64) Card {
  std::atomic<std::uint32_t> used;  // bytes of entries that are complete
  alignas(64) std::byte entries[card_bytes - 64];
};
static_assert(sizeof(Card) == card_bytes);

// Open ports and names of ports, by which the ranks of a job find each other beside their numbers. Guarded by `locked`,
// except for reading a port.
inline constexpr int open_ports = 512;
inline constexpr int published_names = 256;
struct PublishedName {
  static constexpr std::size_t most_service = 255;  // characters
  static constexpr std::size_t most_port = 1023;    // MPI_MAX_PORT_NAME - 1
  std::int32_t owner;                               // its rank plus 1; 0: the entry is free
  char service[most_service + 1];
  char port[most_port + 1];
};
struct alignas(64) Board {
  sync::RobustLock<platform::Native> locked;
  // entries behind these have never been used, and are no memory yet
  std::atomic<std::uint32_t> ports_used, names_used;
  std::atomic<std::uint64_t> ports[open_ports];  // a context of the rank that has opened it; 0: the entry is free
  PublishedName names[published_names];
};

// The failed ranks of a job that survives failures (mpiexec --with-ft), in the order in which mpiexec, which has reaped
// them, reports them. A reader that has acquired a rank's position finds the rank in the log and sees all its earlier
// writes; there are no later ones.
struct alignas(64) FailureLog {
  std::int32_t asked;                   // 1: failures do not end the job, and are reported here
  std::atomic<std::uint32_t> failures;  // entries that are complete
  // Changes after every failure, and after every communicator that is revoked: a reader that sees no change has missed
  // nothing.
  std::atomic<std::uint32_t> trouble;
};
struct FailureEntry {
  std::atomic<std::int32_t> rank;       // the Nth rank that has failed
  std::atomic<std::uint32_t> position;  // of the rank with this number in that order, from 1 on; 0: it has not failed
};

// Communicators that were revoked, or whose members run an agreement, by their contexts. `locked` guards entries that
// come and go; a member reads its own without it.
inline constexpr int shared_comms = 1024;
struct SharedComm {
  std::atomic<std::uint64_t> context;  // 0: the entry is free
  // shared data of its members (mpi/ft/shared_comm.hpp): an offset in the node's memory
  std::atomic<std::uint64_t> block;
};
struct alignas(64) SharedComms {
  sync::RobustLock<platform::Native> locked;
  std::atomic<std::uint32_t> used;  // entries behind these have never been used
  SharedComm entries[shared_comms];
};

struct alignas(64) JobHeader {
  std::uint64_t magic;
  std::uint32_t layout;
  std::int32_t size;           // ranks that the job begins with
  std::int32_t launcher;       // pid of mpiexec; 0: there is none
  std::int32_t local_ranks;    // the number of them on this machine
  std::int32_t usable_cores;   // the cores for all ranks together: affinity mask and cgroup quota, at least 1
  std::int32_t universe_size;  // of MPI_UNIVERSE_SIZE, if the user named one; else 0
  std::uint64_t
      heap_offset;  // offset of the memory of `first_node` from the start of the segment; that of the others follows
  std::uint64_t heap_bytes;  // of each node
  std::uint64_t segment_bytes;
  std::int64_t wake_up;     // nanoseconds: the cost to wake a blocked thread (launch/boot/wake_up.hpp)
  std::int32_t nodes;       // the number of real or simulated (HEDDLE_NODES) nodes
  std::int32_t first_node;  // the first node whose memory is here
  std::int32_t renumbered;  // 1: the launcher has placed ranks on the nodes in another order than theirs
  // The rank that reports failures of the others, where several ranks of a node notice: its rank plus 1; 0: none yet.
  std::atomic<std::int32_t> teller;
  lln::Secret secret;                 // proves membership of the job on a network
  std::int32_t capacity;              // the most ranks of the job, with those that are spawned
  std::int32_t spare_ranks;           // spawned ones whose channels have memory of their own (base/node/room.hpp)
  std::atomic<std::int32_t> spawned;  // ranks that were added, behind `size`
  std::uint64_t key;  // a random number that tells jobs apart, and mpiexec's socket (launcher_socket.hpp)
  alignas(64) std::atomic<std::uint64_t> agreed[agreed_words];  // 0: no proposal yet
};
static_assert(sizeof(JobHeader) == 256);

constexpr std::int32_t ended(int wait_status) { return wait_status + 1; }
constexpr int wait_status(std::int32_t end) { return end - 1; }

// Tells mpiexec to check the records: a rank has aborted, or a rank that is a thread has ended.
inline int abort_signal() { return SIGRTMIN; }

// The first rank of a node, with the ranks spread evenly over the nodes.
constexpr int even_first_rank(int node, int nodes, int ranks) {
  return static_cast<int>(static_cast<std::int64_t>(node) * ranks / nodes);
}

constexpr std::size_t placement_bytes(int ranks, int nodes, bool renumbered) {
  const std::size_t words = static_cast<std::size_t>(nodes) + 1 + (renumbered ? static_cast<std::size_t>(ranks) : 0);
  return (words * sizeof(std::int32_t) + 63) / 64 * 64;
}
// `ranks`: the capacity.
constexpr std::size_t heap_offset(int ranks, int nodes, bool renumbered = false) {
  const std::size_t end = sizeof(JobHeader) + placement_bytes(ranks, nodes, renumbered) +
                          static_cast<std::size_t>(ranks) * (sizeof(RankRecord) + sizeof(Card) + sizeof(FailureEntry)) +
                          sizeof(Board) + sizeof(FailureLog) + sizeof(SharedComms);
  return (end + page_bytes - 1) / page_bytes * page_bytes;
}

// Needs `nodes`, `capacity` and `renumbered` of the header.
inline std::int32_t* first_ranks(JobHeader* header) { return reinterpret_cast<std::int32_t*>(header + 1); }
inline std::int32_t* launcher_ranks(JobHeader* header) { return first_ranks(header) + header->nodes + 1; }
inline RankRecord* rank_records(JobHeader* header) {
  return reinterpret_cast<RankRecord*>(reinterpret_cast<std::byte*>(header + 1) +
                                       placement_bytes(header->capacity, header->nodes, header->renumbered != 0));
}
inline Card* cards(JobHeader* header) { return reinterpret_cast<Card*>(rank_records(header) + header->capacity); }
inline Board& board(JobHeader* header) { return *reinterpret_cast<Board*>(cards(header) + header->capacity); }
inline SharedComms& shared_comms_of(JobHeader* header) { return *reinterpret_cast<SharedComms*>(&board(header) + 1); }
inline FailureLog& failure_log(JobHeader* header) {
  return *reinterpret_cast<FailureLog*>(&shared_comms_of(header) + 1);
}
inline FailureEntry* failure_entries(JobHeader* header) {
  return reinterpret_cast<FailureEntry*>(&failure_log(header) + 1);
}
// Nodes whose memory is in this segment: mpiexec puts those that are on its machine into one.
inline int nodes_here(const JobHeader& header) {
  return header.launcher != 0 && header.local_ranks == header.size ? header.nodes : 1;
}
// The number of ranks so far.
inline int ranks_so_far(const JobHeader& header) {
  return header.size + header.spawned.load(std::memory_order_acquire);
}

}  // namespace heddle::boot
