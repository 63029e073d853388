// Everything that belongs to one rank. A rank is an MPI process in the standard's sense: an OS process, or a thread of one
// with the threads that it creates. So nothing that belongs to a rank is a process-wide variable: it hangs from here,
// and current_rank() is the only way to it.
#pragma once

#include <mpi.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/instruments/counter_registry.hpp"
#include "base/node/node.hpp"
#include "base/progress/pollables.hpp"
#include "base/safety/patience.hpp"
#include "base/threads/mutex.hpp"
#include "launch/boot/join.hpp"
#include "launch/boot/peer_memory.hpp"
#include "launch/rank/host_interface.hpp"
#include "network/networks.hpp"

namespace heddle {

struct Comm;
class Faults;
struct Group;
struct Request;
namespace engine {
class Engine;
}
namespace p2p {
class Lanes;
class SendBuffer;
}  // namespace p2p
namespace tool {
struct Interface;
}
struct
    ObjectTables;  // objects/object/tables.hpp: keyvals, error classes and codes, predefined error handlers, MPI_INFO_ENV

// MPI 5.0, section 11.2: before any initialization, while the world model or a session is active, after the last.
enum class Phase : std::uint8_t { before, active, after };

struct Rank {
  Rank();
  ~Rank();

  // Null unless the world model is active.
  Comm* world = nullptr;
  Comm* self = nullptr;
  Comm* parent = nullptr;  // of MPI_Comm_get_parent; null: not spawned, or it was freed

  std::atomic<Phase> phase{Phase::before};        // of the library as a whole
  std::atomic<Phase> world_phase{Phase::before};  // of the world model: MPI_Init .. MPI_Finalize
  int users = 0;                                  // world model and open sessions; under lifecycle_mutex
  int requested_level = MPI_THREAD_MULTIPLE;      // by MPI_Init or MPI_Init_thread; sessions request this one
  int thread_level = 0;                           // what MPI_Init_thread provided
  std::uintptr_t main_thread = 0;                 // of MPI_Is_thread_main
  threads::Mutex lifecycle_mutex;

  // Our place in the job, and its shared memory; null before the library is first initialized.
  std::unique_ptr<boot::World> job;
  HostOpen host_open = nullptr;  // null: the rank is a process
  boot::PeerMemory peer_memory;
  std::optional<node::Node> node;           // its shared state with the ranks of its node
  std::unique_ptr<lln::Networks> networks;  // to other nodes; null: there are none
  int world_rank = 0;  // position among all processes of the job, spawned ones too; also the address for transports
  int world_size = 1;  // of MPI_COMM_WORLD
  // In MPI_COMM_WORLD, the user's number: for messages.
  int rank_shown() const { return job ? job->rank_in_world(world_rank) : world_rank; }
  std::atomic<std::uint64_t> contexts_made{0};    // see objects/object/context.hpp
  std::atomic<std::uint32_t> partitions_made{0};  // see objects/object/tags.hpp

  instruments::CounterRegistry counter_registry;  // the counters: VNIs and communicators
  std::array<std::uint8_t, lln::most_vnis>
      strategies{};                              // of the outbox of each VNI, by number (messaging/message/outbox/)
  std::unique_ptr<engine::Engine> engine;        // the rank's VNIs, and the waiting of its threads
  std::unique_ptr<p2p::Lanes> lanes;             // of communicators within a node; null: each has one VNI
  Request* sent = nullptr;                       // the request of an MPI_Isend that was complete at once; always done
  std::optional<progress::Pollables> pollables;  // schedules of nonblocking collectives
  std::shared_ptr<p2p::SendBuffer> buffer;       // of MPI_Buffer_attach
  std::unique_ptr<Faults> faults;                // objects/object/faults.hpp; null: a failed rank ends the job
  Machine machine;                               // data for waiting
  cpu_set_t cores;                               // its cores when it began; empty: unknown
  std::unique_ptr<ObjectTables> tables;          // objects/object/tables.hpp
  std::unique_ptr<tool::Interface> tool;         // of MPI_T, usable before initialization; mpi/tool/interface.hpp
};

// The rank of the calling thread. It points to the rank of the process, until launch/rank/host_interface.hpp changes it; initial-exec,
// so that ranks that are processes pay one instruction for those that are not.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local Rank* rank_of_thread;

// The rank that the calling thread belongs to. Always there: before initialization its phase says so.
inline Rank& current_rank() { return *rank_of_thread; }

// Brings the library up for this rank, or counts one more user of it (the world model, or a session), and down again
// when the last one leaves. MPI 5.0, sections 11.2 and 11.3.
class Error;
Error acquire_library(Rank& rank);
void release_library(Rank& rank);

}  // namespace heddle
