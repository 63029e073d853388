// Long messages between nodes, where neither side can reach the other's memory: the sender offers (RTS), the receiver asks for
// the data when the RTS has matched (CTS), and the sender posts them in pieces that the network takes, each with its place in the
// message. The pieces may arrive in any order. The sender is done when all have left, the receiver when all have come.
//
// Where both buffers are contiguous, and the message is long enough for the network to say so, it goes directly from the one to the other
// (Network::post_long).
//
// Everything happens under the VNI's protection. What is under way outwards is work that is left behind: Core counts it as it counts
// messages that wait for room.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lln/network.hpp"
#include "object/request.hpp"

namespace heddle {
class Wakeups;
}

namespace heddle::message {

class Core;
struct Cts;
struct Rts;

class Streams {
 public:
  explicit Streams(Core& core) : core_(core) {}
  ~Streams();
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  // The next accept() or cleared() will need no memory of the process. Throws std::bad_alloc.
  void reserve();
  // An RTS has matched this receive, which knows how much it will take.
  void accept(Request& receive, int peer, const Rts& rts, Wakeups& wakeups);
  // The receiver of this send wants so much of its data.
  void cleared(Request& send, const Cts& cts);
  // A piece has come. False: it belongs to nothing that this sender was told of.
  bool arrived(int sender, const std::byte* payload, std::size_t bytes, Wakeups& wakeups);

  // One that goes directly has left, or landed.
  void end(std::uint64_t name, Wakeups& wakeups);

  // Posts pieces while the network takes them. Whether any has left; adds to `ended` how many messages are out.
  bool flush(std::uint32_t& ended, Wakeups& wakeups);
  // Whoever waits for room wants to be woken.
  void want_room();

 private:
  // Inwards the landing says where the data go, if they may go there directly.
  struct Stream : lln::Landing {
    Request* request = nullptr;
    std::size_t moved = 0;
    bool inwards = false;
    std::uint64_t receiver = 0;  // outwards: the peer's name for it
    bool direct = false;         // outwards
    Stream* following = nullptr;
  };
  // What the other side, or the network, calls it is the name of its landing. Null: nothing has this name.
  Stream* find(std::uint64_t name);

  Stream& make(Request& request, int peer, std::size_t bytes);
  void retire(Stream& stream);
  bool post_piece(Stream& stream, Wakeups& wakeups);
  bool post_whole(Stream& stream);

  Core& core_;
  Stream* outwards_ = nullptr;
  Stream* free_ = nullptr;
};

}  // namespace heddle::message
