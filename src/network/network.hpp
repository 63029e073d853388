// What a low-level network is: how messages of a few kilobytes get from a VNI of one rank to the same VNI of another.
//
// Shared memory is a template and is asked directly (route.hpp); every other network is a Network. There is one object for each VNI,
// whose protection orders all calls but those that say otherwise, so a network has no lock of its own. Messages are matched
// above it, and put in order there if the network promises none (remote.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "network/function_ref.hpp"
#include "network/header.hpp"
#include "network/names.hpp"

namespace heddle::lln {

// Whether a message was sent, or why not: the network can't take it now (try again when it has been asked for room), or there is
// no memory for a first way to the peer, which is never so for an answer. Or, above a network, it has no credit to go unasked (credits.hpp).
enum class Posted : std::uint8_t { done, busy, no_memory, no_credit };

// How the threads of a rank come to their end of shared memory: one at a time, or as they like; or one at a time, and short
// messages of each thread go by ways of its own.
enum class Claiming : std::uint8_t { exclusive, concurrent, by_flux };

// Messages that one visit takes at most from one peer, so that no peer starves the others.
inline constexpr int poll_batch = 64;

// Networks that lead to the same peer, of one VNI (rails/rails.hpp).
inline constexpr int most_rails = 4;

// In place of a peer, where a network does not know which one.
inline constexpr int anybody = -1;

// What a network can do.
struct Traits {
  std::size_t eager;  // bytes: the longest message that post() takes
  bool ordered;       // what one rank posts to another arrives in that order, or is lost for good
  // Bytes: the shortest message that post_long() is worth its own handshake for; 0: there is no such way. In a job that survives failures
  // there is none: a receive or a send may end there before its message has moved, and no library gives back memory of the program then.
  std::size_t longs;
};

class Network;

// Where a long message is to go, once it is announced: the receiver tells the sender its name. It stays until the message has landed.
struct Landing {
  std::byte* memory = nullptr;  // null: nothing may come here
  std::size_t bytes = 0;        // neither more nor less may
  int peer = 0;                 // nor from another
  std::uint64_t name = 0;       // these are the network's
  Landing* next = nullptr;
  bool expected = false;  // the message is coming
  Network* end = nullptr;

  struct Links {
    static std::uint64_t& name(Landing& landing) { return landing.name; }
    static Landing*& next(Landing& landing) { return landing.next; }
  };
};
using Landings = Names<Landing, Landing::Links>;

// What travels with a payload.
struct Envelope {
  Header header;
  std::uint32_t sequence;  // among those to the same peer that have an order
  std::uint32_t credit;    // comes back to its receiver
};

class Network {
 public:
  using Fill = FunctionRef<void(std::byte*)>;
  // A message of `bytes` from world rank `sender`. False: there is no memory for it; it stays where it is, and the poll ends.
  using Sink = FunctionRef<bool(int sender, const Envelope&, const std::byte* payload, std::size_t bytes)>;

  Network() = default;
  virtual ~Network() = default;
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  virtual const Traits& traits() const = 0;

  // Where long messages may go.
  Landings& landings() { return *landings_; }
  // They are those of another network, of which this one is a part.
  void share_landings(Network& whole) { landings_ = whole.landings_; }

  // Sends a message to a world rank; `fill` writes its payload into the network's own buffer. It may have been called in vain: if the answer
  // is not `done`, it is called again for the next try.
  virtual Posted post(int peer, const Envelope& envelope, std::size_t bytes, Fill fill) = 0;
  // Of several networks in one: how many there are; which one has taken the last message; and a post that goes over one of them.
  virtual int rails() const { return 1; }
  virtual int last_rail() const { return 0; }
  virtual Posted post_over(int, int peer, const Envelope& envelope, std::size_t bytes, Fill fill) {
    return post(peer, envelope, bytes, fill);
  }
  // Sends `memory` into the peer's landing of this name, which has room for it. It stays as it is until the sink is handed a message of
  // kind `left` whose payload is `ours`; the peer's is handed `landed` with the landing's name. Both come from the other rank.
  virtual Posted post_long(int peer, std::uint64_t landing, std::span<const std::byte> memory, std::uint64_t ours) = 0;
  // In a job that survives failures: this peer has failed. What is posted to it is dropped from now on (`done`), what was under way to it is not
  // under way any more, and nothing waits for it. What has come from it may still be handed over. May be said again, and has
  // to be where it throws std::bad_alloc.
  virtual void give_up(int peer) = 0;
  // Nobody may poll for long: any_under_way() holds until all that was posted has left.
  virtual void flush() = 0;
  // Hands what has arrived, at most `most` of each peer, to the sink; how many.
  virtual int poll(int most, Sink sink) = 0;
  // Whether the last poll has moved some of a long message, of which there is more: nothing was handed over, and yet who waits should
  // not go to sleep.
  virtual bool is_moving() const { return false; }
  // Any thread, a hint: whether poll() might find something, or a message that was refused could be posted now. A network that can't
  // know says so, but not after arm() while nothing happens.
  virtual bool arrived() const = 0;
  // Any thread: whether something that was posted has not left, and leaves only when somebody polls.
  virtual bool any_under_way() const = 0;
  // A world rank for which something is under way; -1: there is none.
  virtual int slow_peer() const = 0;

  // Before a thread sleeps: whoever waits for room at this peer is to be woken when there is some; until all who wait say anew
  // where they do. What is posted meanwhile by others changes nothing.
  virtual void want_room(int peer) = 0;
  virtual void forget_room() = 0;
  // After that, and before the thread's last poll: from here on wake_fd() tells of all that happens, until a poll has handed something
  // over. False: something is there already, so no thread shall sleep.
  virtual bool arm() = 0;
  // An epoll instance that can be read as long as a sleeping thread should wake, for what has arrived or for room that was wanted.
  virtual int wake_fd() const = 0;
  // Nanoseconds after which a sleeping thread should look in any case; 0: never.
  virtual std::int64_t look_again_after() const = 0;

 protected:
  // The landing that a long message of so many bytes names. Null: nobody has told this sender that it could go there.
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
