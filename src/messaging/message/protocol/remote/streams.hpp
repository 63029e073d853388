// Long messages between nodes, where neither side can access the other's memory. The sender announces a message (RTS), and the receiver
// requests the data when the RTS has matched (CTS). Then the sender posts the data in pieces that the network takes, each with its
// position in the message. The pieces may arrive in any order. The send completes when all pieces have left, the receive when all have
// arrived.
//
// If both buffers are contiguous, and the message is at least as long as the network requires, the network moves the data directly from
// buffer to buffer (Network::post_long).
//
// A strategy may limit the pieces in flight: some pieces then request an acknowledgement, and the receiver answers with the number of
// pieces so far.
//
// With the VNI's lock held. Outgoing messages wait in the outbox.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>

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
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  // Allocates memory, so that the next accept() or cleared() needs none of the process. Throws std::bad_alloc.
  void reserve();
  // An RTS has matched this receive; its `bytes` say how much it will take.
  void accept(Request& receive, int peer, const RemoteRts& rts, Wakeups& wakeups);
  // The receiver of this send has requested data (CTS).
  void cleared(Request& send, const RemoteCts& cts);
  // From here on the data of `from` come from `to`. False: `from` is not a send whose data leave in pieces.
  bool hand_over(const Request& from, Request& to);
  // A piece has arrived. False: it does not belong to a message that this sender was told to send.
  bool arrived(int sender, const std::byte* payload, std::size_t bytes, Wakeups& wakeups);
  // A piece has come of a message that its receiver has given up: its sender may wait for an acknowledgement before it posts more.
  void dismiss(int sender, const std::byte* payload, std::size_t bytes, Wakeups& wakeups);
  // A piece has been acknowledged. False: the acknowledgement is malformed.
  bool heard(int receiver, const More& more);

  // A direct transfer has left, or has landed.
  void end(std::uint64_t name, Wakeups& wakeups);

  // Forgets the messages that are not in an outbox and for which is_lost(request, peer) is true, and calls end(request) for each.
  template <class IsLost, class End>
  void abandon(IsLost&& is_lost, End&& end) {
    while (Request* const request = abandon_one(is_lost)) end(*request);
  }

  // Posts the next part of the first long message to a peer; at most `ahead` of its pieces may be in flight (0: any number). False:
  // nothing was posted.
  bool post_next(int peer, int ahead, Wakeups& wakeups);
  // True if that message waits for room, and not for an acknowledgement.
  bool wants_room(const OutboxLong& first, int ahead) const;

 private:
  // The pieces that were sent over one rail.
  struct Lane {
    std::uint32_t sent = 0;   // pieces
    std::uint32_t asked = 0;  // `sent` at the last piece that requested an acknowledgement
    std::uint32_t heard = 0;  // `sent` at the last piece that was acknowledged

    std::uint32_t on_their_way() const { return sent - heard; }
  };
  // For an incoming message the landing has the buffer for a direct transfer, if that is possible.
  struct Stream : lln::Landing, OutboxLong {
    Request* request = nullptr;
    std::size_t moved = 0;
    bool inwards = false;
    // For an outgoing message:
    std::uint64_t receiver = 0;  // the peer's name for it
    bool direct = false;
    std::array<Lane, lln::most_rails> lanes;  // one for each rail
  };
  // The stream with this landing name, which the peer or the network uses. Null: there is none.
  Stream* find(std::uint64_t name);

  Stream& make(Request& request, int peer, std::size_t bytes);
  void retire(Stream& stream);
  void acknowledge(int sender, const Piece& piece, Wakeups& wakeups);
  Request* abandon_one(lln::FunctionRef<bool(const Request&, int)> is_lost);
  std::size_t piece_bytes() const;
  int emptiest(const Stream& stream) const;
  lln::Posted post_data(Stream& stream, int ahead, std::size_t n);
  void write(const Stream& stream, const Piece& piece, std::size_t n, std::byte* to) const;
  bool post_piece(Stream& stream, int ahead, Wakeups& wakeups);
  bool post_whole(const Stream& stream);

  const Parts& parts_;
  Stream* free_ = nullptr;      // linked by `behind`
  std::deque<Stream> streams_;  // all: those in use and the free ones
};

}  // namespace heddle::message
