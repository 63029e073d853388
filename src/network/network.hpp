// The contract of a low-level network: it carries messages of a few kilobytes from a VNI of one rank to the same VNI of
// another.
//
// Shared memory is a template and is called directly (route.hpp); every other network is a Network. Each VNI has one
// object, and the VNI's lock orders all calls except those marked "any thread", so a network has no lock of its own.
// Messages are matched above it, and put in order there if the network promises none (remote.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "network/function_ref.hpp"
#include "network/header.hpp"
#include "network/names.hpp"

namespace heddle::lln {

// The result of a post: sent; refused by the network now (try again when it has been asked for room); or no memory for
// a first way to the peer, which never happens for an answer. Above a network also: no credit for an eager message
// (credits.hpp).
enum class Posted : std::uint8_t { done, busy, no_memory, no_credit };

// Access of a rank's threads to their end of shared memory: one at a time; concurrent; or one at a time, except that
// each thread sends short messages by fluxes of its own.
enum class Claiming : std::uint8_t { exclusive, concurrent, by_flux };

// The most messages that one poll takes from one peer, so that no peer starves the others.
inline constexpr int poll_batch = 64;

// Networks that lead to the same peer, of one VNI (rails/rails.hpp).
inline constexpr int most_rails = 4;

// In place of a peer, where a network does not know which one.
inline constexpr int any_peer = -1;

// The abilities of a network.
struct Traits {
  std::size_t eager;  // bytes: the longest message that post() takes
  bool ordered;       // messages from one rank to another arrive in the order of their posts, or are lost for good
  // Bytes: the shortest message for which post_long() is worth its own handshake; 0: post_long() is not supported. In a
  // job that survives failures it is 0: a receive or a send may end there before its message has moved, and no library
  // gives back memory of the program then.
  std::size_t longs;
};

class Network;

// The destination of a long message after its RTS: the receiver sends the sender its name. It exists until the message
// has landed.
struct Landing {
  std::byte* memory = nullptr;  // null: no message may arrive here
  std::size_t bytes = 0;        // the exact length of the message
  int peer = 0;                 // nor from another
  std::uint64_t name = 0;       // the members below belong to the network
  Landing* next = nullptr;
  bool expected = false;  // the message is coming
  Network* end = nullptr;

  struct Links {
    static std::uint64_t& name(Landing& landing) { return landing.name; }
    static Landing*& next(Landing& landing) { return landing.next; }
  };
};
using Landings = Names<Landing, Landing::Links>;

// Sent with a payload.
struct Envelope {
  Header header;
  std::uint32_t sequence;  // its number among the ordered messages to the same peer
  std::uint32_t credit;    // credit returned to its receiver
};

class Network {
 public:
  using Fill = FunctionRef<void(std::byte*)>;
  // A message of `bytes` from world rank `sender`. False: there is no memory for it; it stays where it is, and the poll
  // ends.
  using Sink = FunctionRef<bool(int sender, const Envelope&, const std::byte* payload, std::size_t bytes)>;

  Network() = default;
  virtual ~Network() = default;
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  virtual const Traits& traits() const = 0;

  // Destinations of long messages.
  Landings& landings() { return *landings_; }
  // Uses the landings of another network, of which this one is a part.
  void share_landings(Network& whole) { landings_ = whole.landings_; }

  // Sends a message to a world rank; `fill` writes its payload into the network's own buffer. If the result is not
  // `done`, the call of `fill` is void and is repeated at the next try.
  virtual Posted post(int peer, const Envelope& envelope, std::size_t bytes, Fill fill) = 0;
  // For several networks in one: their number; the one that took the last message; and a post over one of them.
  virtual int rails() const { return 1; }
  virtual int last_rail() const { return 0; }
  virtual Posted post_over(int, int peer, const Envelope& envelope, std::size_t bytes, Fill fill) {
    return post(peer, envelope, bytes, fill);
  }
  // Sends `memory` into the peer's landing of this name, which has room for it. The memory stays unchanged until the
  // sink is handed a message of kind `left` with payload `ours`; the peer's sink is handed `landed` with the landing's
  // name. Both name the other rank as their source.
  virtual Posted post_long(int peer, std::uint64_t landing, std::span<const std::byte> memory, std::uint64_t ours) = 0;
  // In a job that survives failures: this peer has failed. Later posts to it are dropped (`done`), messages in flight
  // to it do not count any more, and no wait includes it. Messages that have arrived from it may still be handed over.
  // May be called again, and must be after it has thrown std::bad_alloc.
  virtual void give_up(int peer) = 0;
  // No thread may poll for a long time: any_under_way() holds until all posted messages have left.
  virtual void flush() = 0;
  // Hands arrived messages, at most `most` of each peer, to the sink; returns their number.
  virtual int poll(int most, Sink sink) = 0;
  // True if the last poll has moved a part of a long message that is not complete: no message was handed over, but a
  // waiting thread should not block.
  virtual bool is_moving() const { return false; }
  // Any thread, a hint: poll() might find a message, or a message that was refused could be posted now. A network that
  // does not know returns true, but not after arm() while nothing happens.
  virtual bool arrived() const = 0;
  // Any thread: true if a posted message has not left, and leaves only when a thread polls.
  virtual bool any_under_way() const = 0;
  // A world rank with messages in flight; -1: there is none.
  virtual int slow_peer() const = 0;

  // Before a thread blocks: it is to be woken when there is room at this peer, until all waiting threads call this
  // anew. Posts of other threads meanwhile change nothing.
  virtual void want_room(int peer) = 0;
  virtual void forget_room() = 0;
  // After that, and before the thread's last poll: from now on wake_fd() signals every event until a poll has handed
  // something over. False: an event is pending, so no thread may block.
  virtual bool arm() = 0;
  // An epoll instance, readable as long as a blocked thread should wake, for arrived messages or for requested room.
  virtual int wake_fd() const = 0;
  // Nanoseconds after which a blocked thread should poll in any case; 0: never.
  virtual std::int64_t poll_again_after() const = 0;

 protected:
  // The landing that a long message of so many bytes names. Null: this sender has not been told that name.
  Landing* expect(std::uint64_t name, int sender, std::size_t bytes) {
    Landing* const landing = landings_->find(name);
    if (landing == nullptr || landing->peer != sender || landing->bytes != bytes || landing->memory == nullptr ||
        landing->expected)
      return nullptr;
    landing->expected = true;
    return landing;
  }

 private:
  Landings own_landings_;
  Landings* landings_ = &own_landings_;
};

}  // namespace heddle::lln
