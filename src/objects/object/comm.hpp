// A communicator (MPI 5.0, chapter 7): a few context planes, one or two groups, and its attached state.
//
// The first cache line holds the fields that a message needs; all others lie behind it.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "base/instruments/counters.hpp"
#include "base/threads/mutex.hpp"
#include "objects/object/attribute.hpp"
#include "objects/object/errhandler.hpp"
#include "objects/object/info.hpp"
#include "objects/object/object.hpp"

namespace heddle {

struct CommFaults;
struct Rank;
struct Group;
struct Topology;
namespace engine {
class Vni;
}
namespace p2p {
class AnyTag;
class Lanes;
class SendBuffer;
}  // namespace p2p
namespace coll {
struct CommState;
}

// Messages of different planes of one communicator never match each other.
enum class Plane : std::uint32_t { user = 0, collective = 1, partitioned = 2, window = 3 };
inline constexpr std::uint64_t planes = 4;  // numbers for them in a context

// The name of a communicator on the wire: unique in the job, chosen by one member (see objects/object/context.hpp) and sent to
// the others, so making a communicator needs no agreement. Bits 0 and 1 are the plane, bits 2 and 3 the assertions of
// all members when it was made, bits 4 to 6 the safety model that was requested for it.
using Context = std::uint64_t;
inline constexpr Context promise_no_any_tag = 4;     // mpi_assert_no_any_tag (MPI 5.0, section 7.4.4)
inline constexpr Context promise_no_any_source = 8;  // mpi_assert_no_any_source
inline constexpr Context promises = promise_no_any_tag | promise_no_any_source;
inline constexpr Context asked_model_unit =
    16;  // of the number of a model (messaging/engine/asked_models.hpp); 0: the rank's own
inline constexpr Context asked_model_bits = 7 * asked_model_unit;
inline constexpr std::uint64_t contexts_apart = 128;

struct Comm final : Object {
  static constexpr Kind object_kind = Kind::comm;
  Comm() : Object(Kind::comm) {}
  ~Comm();  // the last reference is gone; see mpi/comm/make_comm.cpp

  // Fields that a message needs.
  Context context = 0;  // of the user plane: bits 0 and 1 are clear
  std::atomic<engine::Vni*> vni{
      // the VNI of this communicator's messages; null until the first, or if there are several
      nullptr};
  std::atomic<const p2p::Lanes*> lanes{
      nullptr};                     // of the program's messages; null: they have one VNI, or none has been sent
  const int* peer_world = nullptr;  // world rank by rank in the group that messages go to; null: the identity
  int rank = 0;                     // of this process, in the local group
  int size = 0;                     // of the local group
  int remote_size = 0;              // of the group that messages go to (an intracommunicator's own)
  bool inter = false;
  bool user_made = false;  // false: MPI_COMM_WORLD and MPI_COMM_SELF, which must not be freed

  Rank* owner = nullptr;
  Group* local_group = nullptr;   // a reference each
  Group* remote_group = nullptr;  // intercommunicators only
  Comm* local_comm = nullptr;     // intercommunicators only: the local group's own intracommunicator (internal)
  ErrhandlerSlot errhandler;
  AttributeSet attributes;
  std::shared_ptr<const Topology> topology;  // objects/object/topology.hpp; null if it has none
  std::atomic<CommFaults*> faults{
      nullptr};                     // objects/object/faults.hpp; null: unused so far, or no failure is survived
  coll::CommState* coll = nullptr;  // made by coll/ on first use
  std::atomic<std::uint32_t> blocking_collectives{0};  // their tags, counted alike on every member
  std::atomic<std::uint32_t> nonblocking_collectives{0};
  std::atomic<p2p::AnyTag*> any_tag{
      nullptr};                    // its receives, once one has used MPI_ANY_TAG on lanes (messaging/p2p/any_tag.hpp)
  instruments::Counters counters;  // its users, and their counts
  std::shared_ptr<p2p::SendBuffer> buffer;  // of MPI_Comm_attach_buffer

  threads::Mutex mutex;  // guards the members below
  InfoEntries hints;     // set by the program and meaningful here (objects/object/info.hpp)
  std::string name;      // at most MPI_MAX_OBJECT_NAME-1 characters

  bool has_promised(Context promise) const { return (context & promise) != 0; }
  int asked_model() const { return static_cast<int>((context & asked_model_bits) / asked_model_unit); }
  int world_rank(int r) const { return peer_world ? peer_world[r] : r; }
};

}  // namespace heddle
