#include "messaging/message/protocol/remote/streams.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "objects/datatype/datatype.hpp"

namespace heddle::message {

using lln::Header;
using lln::MessageKind;

namespace {

constexpr Header of_piece{MessageKind::data, 0, 0, 0};

}  // namespace

void Streams::reserve() {
  if (free_ == nullptr) free_ = &streams_.emplace_back();
}

Streams::Stream& Streams::make(Request& request, int peer, std::size_t bytes) {
  reserve();
  Stream& stream = *free_;
  free_ = static_cast<Stream*>(stream.behind);
  stream = Stream{};
  stream.request = &request;
  stream.peer = peer;
  stream.bytes = bytes;
  parts_.route.landings().announce(stream);
  return stream;
}

Streams::Stream* Streams::find(std::uint64_t name) { return static_cast<Stream*>(parts_.route.landings().find(name)); }

void Streams::retire(Stream& stream) {
  parts_.route.landings().withdraw(stream);
  stream.behind = free_;
  free_ = &stream;
}

void Streams::accept(Request& receive, int peer, const RemoteRts& rts, Wakeups& wakeups) {
  const bool run = is_run(*receive.datatype, receive.count);
  const Moving moving = plan_transfer(receive.bytes, parts_.route.least_long(), run);
  if (moving == Moving::not_at_all) {
    parts_.outgoing.send_away(peer, {MessageKind::fin, 0, 0, 0}, RemoteFin{rts.send}, wakeups);
    return parts_.completion.finish(receive, wakeups);
  }
  Stream& stream = make(receive, peer, receive.bytes);
  stream.inwards = true;
  if (moving == Moving::direct) stream.memory = static_cast<std::byte*>(run_start(*receive.datatype, receive.buffer));
  const RemoteCts cts{rts.send, stream.name, receive.bytes, moving};
  parts_.outgoing.send_away(peer, {MessageKind::cts, 0, 0, 0}, cts, wakeups);
}

void Streams::cleared(Request& send, const RemoteCts& cts) {
  Stream& stream = make(send, send.peer, cts.bytes);
  stream.receiver = cts.stream;
  // If the sender's buffer or strategy does not permit a direct transfer, it sends pieces: the receiver accepts them in any case.
  stream.direct = cts.moving == Moving::direct && is_run(*send.datatype, send.count) &&
                  parts_.outgoing.outbox().pieces_ahead() == 0;
  parts_.outgoing.outbox().append_long(send.peer, stream);
}

bool Streams::arrived(int sender, const std::byte* payload, std::size_t bytes, Wakeups& wakeups) {
  if (bytes < sizeof(Piece)) return false;
  const auto piece = first_of<Piece>(payload);
  Stream* const there = find(piece.stream);
  if (there == nullptr || !there->inwards || there->peer != sender || there->expected) return false;
  Stream& stream = *there;
  Request& receive = *stream.request;
  const std::size_t n = bytes - sizeof piece;
  if (n > stream.bytes - stream.moved || piece.position > stream.bytes - n) return false;
  acknowledge(sender, piece, wakeups);  // first: without memory for the answer, the piece arrives again
  stream.memory = nullptr;              // data that come in pieces do not come directly
  unpack(*receive.datatype, receive.buffer, receive.count, piece.position, payload + sizeof piece, n);
  stream.moved += n;
  if (stream.moved < stream.bytes) return true;
  retire(stream);
  parts_.completion.finish(receive, wakeups);
  return true;
}

void Streams::dismiss(int sender, const std::byte* payload, std::size_t bytes, Wakeups& wakeups) {
  if (bytes >= sizeof(Piece)) acknowledge(sender, first_of<Piece>(payload), wakeups);
}

void Streams::acknowledge(int sender, const Piece& piece, Wakeups& wakeups) {
  if (piece.asks == 0) return;
  parts_.outgoing.send_away(sender, {MessageKind::more, 0, 0, 0}, More{piece.stream, piece.rail, piece.asks}, wakeups);
}

bool Streams::hand_over(const Request& from, Request& to) {
  lln::Landing* const found = parts_.route.landings().find_if(
      [&](const lln::Landing& landing) { return static_cast<const Stream&>(landing).request == &from; });
  if (found == nullptr || static_cast<Stream*>(found)->direct) return false;
  static_cast<Stream*>(found)->request = &to;
  return true;
}

void Streams::end(std::uint64_t name, Wakeups& wakeups) {
  Stream* const stream = find(name);
  if (stream == nullptr) return;
  Request& request = *stream->request;
  retire(*stream);
  parts_.completion.finish(request, wakeups);
}

// Null: there is none left.
Request* Streams::abandon_one(lln::FunctionRef<bool(const Request&, int)> is_lost) {
  lln::Landing* const one = parts_.route.landings().find_if(
      [&](const lln::Landing& landing) { return is_lost(*static_cast<const Stream&>(landing).request, landing.peer); });
  if (one == nullptr) return nullptr;
  auto& stream = static_cast<Stream&>(*one);
  Request* const request = stream.request;
  retire(stream);
  return request;
}

// The message may be complete: an acknowledgement that is not needed may arrive late.
bool Streams::heard(int receiver, const More& more) {
  if (more.stream == 0) return false;
  auto* const first = static_cast<Stream*>(parts_.outgoing.outbox().first_long(receiver));
  if (first == nullptr || first->receiver != more.stream) return true;
  if (more.rail < 0 || more.rail >= parts_.route.rails()) return false;
  Lane& lane = first->lanes[static_cast<std::size_t>(more.rail)];
  if (more.come > lane.sent) return false;
  lane.heard = std::max(lane.heard, more.come);
  return true;
}

// ---- outwards

std::size_t Streams::piece_bytes() const { return parts_.outgoing.remote_eager_bytes() - sizeof(Piece); }

// The rail with the fewest pieces of this message in flight.
int Streams::emptiest(const Stream& stream) const {
  const auto end = stream.lanes.begin() + parts_.route.rails();
  return static_cast<int>(
      std::min_element(stream.lanes.begin(), end,
                       [](const Lane& a, const Lane& b) { return a.on_their_way() < b.on_their_way(); }) -
      stream.lanes.begin());
}

// True if the rail with the fewest pieces in flight may carry more. A rail that refuses pieces does not keep the others from being used.
bool Streams::wants_room(const OutboxLong& first, int ahead) const {
  const auto& stream = static_cast<const Stream&>(first);
  if (stream.direct || ahead == 0) return true;
  return stream.lanes[static_cast<std::size_t>(emptiest(stream))].on_their_way() < static_cast<std::uint32_t>(ahead);
}

void Streams::write(const Stream& stream, const Piece& piece, std::size_t n, std::byte* to) const {
  const Request& send = *stream.request;
  std::memcpy(to, &piece, sizeof piece);
  pack(*send.datatype, send.buffer, send.count, piece.position, to + sizeof piece, n);
}

// Posts the next n bytes. With a limit of pieces, each rail has up to that number in flight: so a faster rail carries more of them.
lln::Posted Streams::post_data(Stream& stream, int ahead, std::size_t n) {
  const std::size_t bytes = sizeof(Piece) + n;
  const auto post_over = [&](int rail, const Piece& piece) {
    const auto fill = [&](std::byte* to) { write(stream, piece, n, to); };
    return parts_.route.post_over(rail, stream.peer, of_piece, bytes, fill);
  };
  if (ahead == 0) return post_over(lln::Remote::any_rail, {stream.receiver, stream.moved, 0, 0});
  const auto most = static_cast<std::uint32_t>(ahead);
  const int rails = parts_.route.rails();
  const int first = emptiest(stream);
  for (int i = 0; i < rails; ++i) {
    const int rail = (first + i) % rails;
    Lane& lane = stream.lanes[static_cast<std::size_t>(rail)];
    if (lane.on_their_way() == most) continue;
    const bool asks = lane.sent + 1 - lane.asked >= most / 2;  // two acknowledgements per full set of pieces
    if (post_over(rail, {stream.receiver, stream.moved, rail, asks ? lane.sent + 1 : 0}) != lln::Posted::done) continue;
    ++lane.sent;
    if (asks) lane.asked = lane.sent;
    return lln::Posted::done;
  }
  return lln::Posted::busy;
}

bool Streams::post_whole(const Stream& stream) {
  const Request& send = *stream.request;
  const auto* const memory = static_cast<const std::byte*>(run_start(*send.datatype, send.buffer));
  return parts_.route.post_long(stream.peer, stream.receiver, {memory, stream.bytes}, stream.name) == lln::Posted::done;
}

bool Streams::post_piece(Stream& stream, int ahead, Wakeups& wakeups) {
  const std::size_t n = std::min(piece_bytes(), stream.bytes - stream.moved);
  if (sizeof(Piece) + n <= sizeof OutboxItem::payload) {
    std::byte piece[sizeof OutboxItem::payload];
    write(stream, {stream.receiver, stream.moved, 0, 0}, n, piece);
    try {
      parts_.outgoing.send_bytes_away(stream.peer, of_piece, piece, sizeof(Piece) + n, wakeups);  // may share a packet
      stream.moved += n;
      return true;
    } catch (const std::bad_alloc&) {  // no memory for an entry in the outbox: posting the piece alone needs none
    }
  }
  if (post_data(stream, ahead, n) != lln::Posted::done) return false;
  stream.moved += n;
  return true;
}

bool Streams::post_next(int peer, int ahead, Wakeups& wakeups) {
  OutboxLong* const first = parts_.outgoing.outbox().first_long(peer);
  if (first == nullptr) return false;
  auto& stream = static_cast<Stream&>(*first);
  if (!(stream.direct ? post_whole(stream) : post_piece(stream, ahead, wakeups))) return false;
  if (!stream.direct && stream.moved < stream.bytes) return true;
  parts_.outgoing.outbox().end_first_long(peer);
  if (stream.direct) return true;  // the network does the rest
  Request& send = *stream.request;
  retire(stream);
  parts_.completion.finish(send, wakeups);
  return true;
}

}  // namespace heddle::message
