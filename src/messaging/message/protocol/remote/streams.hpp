// Long messages between nodes, where neither side can reach the other's memory: the sender offers (RTS), the receiver asks for
// the data when the RTS has matched (CTS), and the sender posts them in pieces that the network takes, each with its place in the
// message. The pieces may arrive in any order. The sender is done when all have left, the receiver when all have come.
//
// Where both buffers are contiguous, and the message is long enough for the network to say so, it goes directly from the one to the other
// (Network::post_long).
//
// A strategy may bound what is on its way: some pieces then say that they want to be heard of, and the receiver answers how far they go.
//
// Everything happens under the VNI's lock. What goes outwards waits for its turn in the outbox.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "messaging/message/outbox/item.hpp"
#include "messaging/message/protocol/parts.hpp"
#include "messaging/message/wire.hpp"
#include "network/function_ref.hpp"
#include "network/network.hpp"
#include "objects/object/request.hpp"

namespace heddle {
class Wakeups;
}

namespace heddle::message {

class Streams {
 public:
  explicit Streams(const Parts& parts) : parts_(parts) {}
  ~Streams();
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  // The next accept() or cleared() will need no memory of the process. Throws std::bad_alloc.
  void reserve();
  // An RTS has matched this receive, which knows how much it will take.
  void accept(Request& receive, int peer, const RemoteRts& rts, Wakeups& wakeups);
  // The receiver of this send wants so much of its data.
  void cleared(Request& send, const RemoteCts& cts);
  // The data of the first send come from the second one from here on. False: it is not among those whose data go in pieces.
  bool hand_over(const Request& from, Request& to);
  // A piece has come, and wants to be heard of or not. False: it belongs to nothing that this sender was told of.
  bool arrived(int sender, const std::byte* payload, std::size_t bytes, Wakeups& wakeups);
  // A piece has been acknowledged. False: the acknowledgement is malformed.
  bool heard(int receiver, const More& more);

  // One that goes directly has left, or landed.
  void end(std::uint64_t name, Wakeups& wakeups);

  // Forgets those that is_lost(request, peer) says of, and that are in no outbox, by end(request).
  template <class IsLost, class End>
  void abandon(IsLost&& is_lost, End&& end) {
    while (Request* const request = abandon_one(is_lost)) end(*request);
  }

  // Posts the next part of the first long message to a peer, of which at most `ahead` pieces may be on their way (0: any number). False:
  // none, now.
  bool post_next(int peer, int ahead, Wakeups& wakeups);
  // Whether that one waits for room: and not for word of what is on its way.
  bool wants_room(const OutboxLong& first, int ahead) const;

 private:
  // What has gone over one rail.
  struct Lane {
    std::uint32_t sent = 0;   // pieces
    std::uint32_t asked = 0;  // so many had been when one last wanted to be heard of
    std::uint32_t heard = 0;  // and when one last was

    std::uint32_t on_their_way() const { return sent - heard; }
  };
  // Inwards the landing says where the data go, if they may go there directly.
  struct Stream : lln::Landing, OutboxLong {
    Request* request = nullptr;
    std::size_t moved = 0;
    bool inwards = false;
    // Outwards:
    std::uint64_t receiver = 0;  // the peer's name for it
    bool direct = false;
    std::array<Lane, lln::most_rails> lanes;  // by rail
  };
  // What the other side, or the network, calls it is the name of its landing. Null: nothing has this name.
  Stream* find(std::uint64_t name);

  Stream& make(Request& request, int peer, std::size_t bytes);
  void retire(Stream& stream);
  Request* abandon_one(lln::FunctionRef<bool(const Request&, int)> is_lost);
  std::size_t piece_bytes() const;
  int emptiest(const Stream& stream) const;
  lln::Posted post_data(Stream& stream, int ahead, std::size_t n);
  void write(const Stream& stream, const Piece& piece, std::size_t n, std::byte* to) const;
  bool post_piece(Stream& stream, int ahead, Wakeups& wakeups);
  bool post_whole(const Stream& stream);

  const Parts& parts_;
  Stream* free_ = nullptr;  // linked by `behind`
};

}  // namespace heddle::message
