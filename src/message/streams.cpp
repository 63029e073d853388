#include "message/streams.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "datatype/datatype.hpp"
#include "message/core.hpp"
#include "message/transfer.hpp"

namespace heddle::message {

using lln::Header;
using lln::MessageKind;

namespace {

// Begins the payload of a piece.
struct Piece {
  std::uint64_t receiver;  // the receiver's name for the message
  std::uint64_t position;  // of the data that follow
};

// A piece that wants to be heard of says in its header how many have gone the same way with it, and the answer says it again.
Header header_of_piece(std::uint32_t counted) { return {MessageKind::data, static_cast<std::int32_t>(counted), 0, 0}; }

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

bool Streams::arrived(int sender, const Header& header, const std::byte* payload, std::size_t bytes,
                      Wakeups& wakeups) {
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

void Streams::end(std::uint64_t name, Wakeups& wakeups) {
  Stream* const stream = find(name);
  if (stream == nullptr) return;
  Request& request = *stream->request;
  retire(*stream);
  core_.finish(request, wakeups);
}

// The message may be over: what is not needed may come late.
bool Streams::heard(int receiver, const Header& header, const std::byte* payload, std::size_t bytes) {
  const std::uint64_t name = name_in(payload, bytes);
  if (name == 0) return false;
  auto* const first = static_cast<Stream*>(core_.outbox().first_long(receiver));
  if (first == nullptr || first->receiver != name) return true;
  const auto counted = static_cast<std::uint32_t>(header.source);
  if (header.tag != 0 || counted > first->sent) return false;
  first->heard = std::max(first->heard, counted);
  return true;
}

// ---- outwards

std::size_t Streams::piece_bytes() const { return core_.route().remote_eager_bytes() - sizeof(Piece); }

bool Streams::may_go(const Stream& stream, int ahead) {
  return ahead == 0 || stream.sent < stream.heard + static_cast<std::uint32_t>(ahead);
}

// Twice while as many go as may be on their way.
bool Streams::asks(const Stream& stream, int ahead) {
  return ahead != 0 && stream.sent + 1 - stream.asked >= static_cast<std::uint32_t>(ahead) / 2;
}

bool Streams::wants_room(const OutboxLong& first, int ahead) {
  const auto& stream = static_cast<const Stream&>(first);
  return stream.direct || may_go(stream, ahead);
}

bool Streams::post_whole(const Stream& stream) {
  const Request& send = *stream.request;
  const auto* const memory = static_cast<const std::byte*>(run_start(*send.datatype, send.buffer));
  return core_.route().post_long(stream.peer, stream.receiver, {memory, stream.bytes}, stream.name) ==
         lln::Posted::done;
}

bool Streams::post_piece(Stream& stream, int ahead, Wakeups& wakeups) {
  if (!may_go(stream, ahead)) return false;
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
      core_.send_control(stream.peer, header_of_piece(0), piece, sizeof(Piece) + n, wakeups);  // it may have company
      stream.moved += n;
      return true;
    } catch (const std::bad_alloc&) {  // there is none for a place on the list: alone it needs none
    }
  }
  const bool asking = asks(stream, ahead);
  const Header header = header_of_piece(asking ? stream.sent + 1 : 0);
  if (core_.route().post(stream.peer, header, sizeof(Piece) + n, fill) != lln::Posted::done) return false;
  stream.moved += n;
  ++stream.sent;
  if (asking) stream.asked = stream.sent;
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
