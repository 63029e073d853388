// Receives and probes with MPI_ANY_TAG on a communicator with lanes (lanes.hpp).
//
// From the first one on, all receives of the communicator are posted here and not in a lane, and so this rank has one order for them.
// Receives that were posted in a lane before are older, and stay there. Messages arrive in their lanes, and those that find no receive
// there are taken from all lanes together, into one order (base/sync/lane_merge.hpp), and matched here. The lane of a message then moves
// its data, as after a matched probe.
//
// It is polled by any_tags.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/progress/shortage.hpp"
#include "base/sync/lane_merge.hpp"
#include "base/threads/mutex.hpp"
#include "messaging/engine/vni.hpp"
#include "messaging/message/matching.hpp"
#include "objects/object/comm.hpp"
#include "objects/object/request.hpp"

namespace heddle {
struct Rank;
}

namespace heddle::p2p {

class AnyTags;
class Lanes;

class AnyTag {
 public:
  // The work that a poll leaves.
  enum class Left : std::uint8_t {
    nothing,
    started,  // receives whose messages are being moved; the end of each wakes a blocked thread
    more,     // another poll has to follow before a thread blocks
    all,      // another thread has the mutex
    over,     // nothing: the communicator is freed, and this object is unused
  };

  // `older`: the next of the list that AnyTags has.
  AnyTag(AnyTags& all, const Lanes& lanes, Rank& rank, AnyTag* older)
      : older_(older), all_(all), lanes_(lanes), rank_(rank) {}

  // For a communicator that has none: begin(), and then open(), when no thread posts a receive in a lane any more without moving it here
  // afterwards. Until then no message is taken. Throws std::bad_alloc.
  void begin(const Comm& comm);
  void open();
  // The communicator is freed. Receives that were started go on.
  void close();
  // False also if it is being polled.
  bool is_unused();
  AnyTag* older() const { return older_.get(); }

  // Any thread. Posts a receive, with any tag. Throws std::bad_alloc: it is not posted.
  void post(Request& receive);
  // Any thread. Cancels a receive that has not been matched. True: it is cancelled.
  bool cancel(Request& receive);
  // Any thread. As Vni::probe, in all lanes; `vni` is that of the message.
  message::Unexpected* probe(int source, int tag, bool take, engine::Probed& found, engine::Vni*& vni);

  // One thread at a time. Waits for no thread. `called`: unexpected messages may have arrived since the last poll.
  Left poll(bool called);

 private:
  struct Links {
    static message::Unexpected* next(const message::Unexpected& message) { return message.next; }
    static void set_next(message::Unexpected& message, message::Unexpected* other) { message.next = other; }
    static std::uint64_t stamp(const message::Unexpected& message) { return message.stamp; }
    static std::uint32_t pass(const message::Unexpected& message) { return message.pass; }
    static void set_pass(message::Unexpected& message, std::uint32_t pass) { message.pass = pass; }
  };
  enum class State : std::uint8_t { unused, begun, open, closed };

  // A receive whose message the lane moves, for the request `lane`. `message`: there was no memory to begin with it; else null.
  struct Started {
    Request* receive;
    Request* lane;
    message::Unexpected* message;
  };
  Left left() const;
  void call_if_left();
  void take_messages();
  bool take_pass();
  std::size_t lanes_in_use() const;
  void match(message::Unexpected& message);
  void prepare();
  void start(Request& receive, message::Unexpected& message);
  void begin_moving(Started& one);
  // Receives complete without the mutex, since that may call the program.
  void collect_completed(Request*& completed);
  static void complete(Request* completed);
  bool is_over() const { return state_ == State::closed && posted_ == 0 && started_.empty() && taken_ == 0; }
  void end();
  engine::Vni& vni_of(const message::Unexpected& message) const;

  const std::unique_ptr<AnyTag> older_;
  AnyTags& all_;
  const Lanes& lanes_;
  Rank& rank_;
  threads::Mutex mutex_;  // guards the rest
  State state_ = State::unused;
  std::uint64_t context_ = 0;
  message::Matcher matcher_;
  sync::LanePasses passes_;
  std::vector<sync::LaneMerge<message::Unexpected, Links>> merges_;  // by rank in the communicator
  std::uint64_t taken_ = 0;                                          // messages in them
  std::uint64_t posted_ = 0;                                         // receives that wait for a message
  std::vector<Started> started_;
  bool pass_began_ = false;      // and is not complete
  engine::Vni* home_ = nullptr;  // of the last message: where threads expect the next one; null: there was none
  Request* spare_ = nullptr;     // for the next receive that starts
  progress::Shortage shortage_;
};

}  // namespace heddle::p2p
