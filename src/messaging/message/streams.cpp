#include "messaging/message/streams.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "messaging/message/core.hpp"
#include "messaging/message/transfer.hpp"
#include "objects/datatype/datatype.hpp"

namespace heddle::message {

using lln::Header;
using lln::MessageKind;

namespace {

// Begins the payload of a piece.
struct Piece {
  std::uint64_t receiver;  // the receiver's name for the message
  std::uint64_t position;  // of the data that follow
};

// A piece that wants to be heard of says in its header how many have gone over its rail with it, and the answer says it again.
Header header_of_piece(int rail, std::uint32_t counted) {
  return {MessageKind::data, static_cast<std::int32_t>(counted), rail, 0};
}

}  // namespace

Streams::~Streams() {
  while (Stream* stream = free_) {
    free_ = static_cast<Stream*>(stream->behind);
    delete stream;
  }
}

void Streams::reserve() {
  if (free_ == nullptr) free_ = new Stream;
}

Streams::Stream& Streams::make(Request& request, int peer, std::size_t bytes) {
  reserve();
  Stream& stream = *free_;
  free_ = static_cast<Stream*>(stream.behind);
  stream = Stream{};
  stream.request = &request;
  stream.peer = peer;
  stream.bytes = bytes;
  core_.route().landings().announce(stream);
  return stream;
}

Streams::Stream* Streams::find(std::uint64_t name) { return static_cast<Stream*>(core_.route().landings().find(name)); }

void Streams::retire(Stream& stream) {
  core_.route().landings().withdraw(stream);
  stream.behind = free_;
  free_ = &stream;
}

void Streams::accept(Request& receive, int peer, const Rts& rts, Wakeups& wakeups) {
  if (receive.bytes == 0) {
    core_.send_control(peer, Header{MessageKind::fin, 0, 0, 0}, &rts.request, sizeof rts.request, wakeups);
    return core_.finish(receive, wakeups);
  }
  Stream& stream = make(receive, peer, receive.bytes);
  stream.inwards = true;
  const bool direct = core_.route().is_long(receive.bytes) && is_run(*receive.datatype, receive.count);
  if (direct) stream.memory = static_cast<std::byte*>(run_start(*receive.datatype, receive.buffer));
  const Cts cts{rts.request, stream.name, receive.bytes, node::nowhere, direct ? Protocol::direct : Protocol::stream};
  core_.send_control(peer, Header{MessageKind::cts, 0, 0, 0}, &cts, sizeof cts, wakeups);
}

void Streams::cleared(Request& send, const Cts& cts) {
  Stream& stream = make(send, send.peer, cts.bytes);
  stream.receiver = cts.address;
  stream.direct =
      cts.protocol == Protocol::direct && is_run(*send.datatype, send.count) && core_.outbox().pieces_ahead() == 0;
  core_.outbox().append_long(send.peer, stream);
}

bool Streams::arrived(int sender, const Header& header, const std::byte* payload, std::size_t bytes, Wakeups& wakeups) {
  Piece piece;
  if (bytes < sizeof piece) return false;
  std::memcpy(&piece, payload, sizeof piece);
  Stream* const there = find(piece.receiver);
  if (there == nullptr || !there->inwards || there->peer != sender || there->expected) return false;
  Stream& stream = *there;
  Request& receive = *stream.request;
  const std::size_t n = bytes - sizeof piece;
  if (n > stream.bytes - stream.moved || piece.position > stream.bytes - n) return false;
  if (header.source != 0) {  // first: what finds no memory for its answer comes again
    const Header answer{MessageKind::more, header.source, header.tag, 0};
    core_.send_control(sender, answer, &piece.receiver, sizeof piece.receiver, wakeups);
  }
  stream.memory = nullptr;  // what comes in pieces does not come as a whole
  unpack(*receive.datatype, receive.buffer, receive.count, piece.position, payload + sizeof piece, n);
  stream.moved += n;
  if (stream.moved < stream.bytes) return true;
  retire(stream);
  core_.finish(receive, wakeups);
  return true;
}

bool Streams::hand_over(const Request& from, Request& to) {
  lln::Landing* const found = core_.route().landings().find_if(
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
  core_.finish(request, wakeups);
}

// Null: there is none left.
Request* Streams::abandon_one(lln::FunctionRef<bool(const Request&, int)> is_lost) {
  lln::Landing* const one = core_.route().landings().find_if(
      [&](const lln::Landing& landing) { return is_lost(*static_cast<const Stream&>(landing).request, landing.peer); });
  if (one == nullptr) return nullptr;
  auto& stream = static_cast<Stream&>(*one);
  Request* const request = stream.request;
  retire(stream);
  return request;
}

// The message may be over: what is not needed may come late.
bool Streams::heard(int receiver, const Header& header, const std::byte* payload, std::size_t bytes) {
  const std::uint64_t name = name_in(payload, bytes);
  if (name == 0) return false;
  auto* const first = static_cast<Stream*>(core_.outbox().first_long(receiver));
  if (first == nullptr || first->receiver != name) return true;
  if (header.tag < 0 || header.tag >= core_.route().rails()) return false;
  Lane& lane = first->lanes[static_cast<std::size_t>(header.tag)];
  const auto counted = static_cast<std::uint32_t>(header.source);
  if (counted > lane.sent) return false;
  lane.heard = std::max(lane.heard, counted);
  return true;
}

// ---- outwards

std::size_t Streams::piece_bytes() const { return core_.longest_away() - sizeof(Piece); }

// The rail that has least of it on its way.
int Streams::emptiest(const Stream& stream) const {
  const auto end = stream.lanes.begin() + core_.route().rails();
  return static_cast<int>(
      std::min_element(stream.lanes.begin(), end,
                       [](const Lane& a, const Lane& b) { return a.on_their_way() < b.on_their_way(); }) -
      stream.lanes.begin());
}

// A rail that only refuses is none that others wait for: room is wanted at all.
bool Streams::wants_room(const OutboxLong& first, int ahead) const {
  const auto& stream = static_cast<const Stream&>(first);
  if (stream.direct || ahead == 0) return true;
  return stream.lanes[static_cast<std::size_t>(emptiest(stream))].on_their_way() < static_cast<std::uint32_t>(ahead);
}

// Where pieces are counted, each rail has as many on their way as may be: so it gets more of them the faster it takes them there.
lln::Posted Streams::post_data(Stream& stream, int ahead, std::size_t bytes, lln::Network::Fill fill) {
  if (ahead == 0)
    return core_.route().post_over(lln::Remote::any_rail, stream.peer, header_of_piece(0, 0), bytes, fill);
  const auto most = static_cast<std::uint32_t>(ahead);
  const int rails = core_.route().rails();
  const int first = emptiest(stream);
  for (int i = 0; i < rails; ++i) {
    const int rail = (first + i) % rails;
    Lane& lane = stream.lanes[static_cast<std::size_t>(rail)];
    if (lane.on_their_way() == most) continue;
    const bool asks = lane.sent + 1 - lane.asked >= most / 2;  // twice in what may be on its way
    const Header header = header_of_piece(rail, asks ? lane.sent + 1 : 0);
    if (core_.route().post_over(rail, stream.peer, header, bytes, fill) != lln::Posted::done) continue;
    ++lane.sent;
    if (asks) lane.asked = lane.sent;
    return lln::Posted::done;
  }
  return lln::Posted::busy;
}

bool Streams::post_whole(const Stream& stream) {
  const Request& send = *stream.request;
  const auto* const memory = static_cast<const std::byte*>(run_start(*send.datatype, send.buffer));
  return core_.route().post_long(stream.peer, stream.receiver, {memory, stream.bytes}, stream.name) ==
         lln::Posted::done;
}

bool Streams::post_piece(Stream& stream, int ahead, Wakeups& wakeups) {
  const Request& send = *stream.request;
  const std::size_t n = std::min(piece_bytes(), stream.bytes - stream.moved);
  const auto fill = [&](std::byte* to) {
    const Piece piece{stream.receiver, stream.moved};
    std::memcpy(to, &piece, sizeof piece);
    pack(*send.datatype, send.buffer, send.count, stream.moved, to + sizeof piece, n);
  };
  if (sizeof(Piece) + n <= sizeof OutboxItem::payload) {
    std::byte piece[sizeof OutboxItem::payload];
    fill(piece);
    try {
      core_.send_control(stream.peer, header_of_piece(0, 0), piece, sizeof(Piece) + n, wakeups);  // it may have company
      stream.moved += n;
      return true;
    } catch (const std::bad_alloc&) {  // there is none for a place on the list: alone it needs none
    }
  }
  if (post_data(stream, ahead, sizeof(Piece) + n, fill) != lln::Posted::done) return false;
  stream.moved += n;
  return true;
}

bool Streams::post_next(int peer, int ahead, Wakeups& wakeups) {
  OutboxLong* const first = core_.outbox().first_long(peer);
  if (first == nullptr) return false;
  auto& stream = static_cast<Stream&>(*first);
  if (!(stream.direct ? post_whole(stream) : post_piece(stream, ahead, wakeups))) return false;
  if (!stream.direct && stream.moved < stream.bytes) return true;
  core_.outbox().end_first_long(peer);
  if (stream.direct) return true;  // what is left is the network's
  Request& send = *stream.request;
  retire(stream);
  core_.finish(send, wakeups);
  return true;
}

}  // namespace heddle::message
