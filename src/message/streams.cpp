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

// Begins the payload of a piece, and is that of an answer.
struct Piece {
  std::uint64_t receiver;  // the receiver's name for the message
  std::uint64_t position;  // of the data that follow; of what comes behind them
};

// The tag of a piece that wants to be heard of.
constexpr int shall_be_answered = 1;

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
  if (header.tag == shall_be_answered) {  // first: what finds no memory for its answer comes again
    const Piece answer{piece.receiver, piece.position + n};
    core_.send_control(sender, Header{MessageKind::more, 0, 0, 0}, &answer, sizeof answer, wakeups);
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
bool Streams::heard(int receiver, const std::byte* payload, std::size_t bytes) {
  Piece answer;
  if (bytes != sizeof answer) return false;
  std::memcpy(&answer, payload, sizeof answer);
  auto* const first = static_cast<Stream*>(core_.outbox().first_long(receiver));
  if (first == nullptr || first->receiver != answer.receiver) return true;
  if (answer.position > first->moved) return false;
  first->heard = std::max<std::size_t>(first->heard, answer.position);
  return true;
}

// ---- outwards

std::size_t Streams::piece_bytes() const { return core_.route().remote_eager_bytes() - sizeof(Piece); }

bool Streams::may_go(const Stream& stream, int ahead) const {
  return ahead == 0 || stream.moved < stream.heard + static_cast<std::size_t>(ahead) * piece_bytes();
}

// Twice in each stretch that may be on its way, up to the last of which there need be no word.
bool Streams::shall_be_heard(const Stream& stream, std::size_t end, int ahead) const {
  const std::size_t stretch = static_cast<std::size_t>(ahead) * piece_bytes();
  return stretch != 0 && stream.asked + stretch < stream.bytes && end - stream.asked >= stretch / 2;
}

bool Streams::wants_room(const OutboxLong& first, int ahead) const {
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
  Header header{MessageKind::data, 0, 0, 0};
  if (sizeof(Piece) + n <= sizeof OutboxItem::payload) {
    std::byte piece[sizeof OutboxItem::payload];
    fill(piece);
    try {
      core_.send_control(stream.peer, header, piece, sizeof(Piece) + n, wakeups);  // which may have company
      stream.moved += n;
      return true;
    } catch (const std::bad_alloc&) {  // there is none for a place on the list: alone it needs none
    }
  }
  const bool asks = shall_be_heard(stream, stream.moved + n, ahead);
  if (asks) header.tag = shall_be_answered;
  if (core_.route().post(stream.peer, header, sizeof(Piece) + n, fill) != lln::Posted::done) return false;
  stream.moved += n;
  if (asks) stream.asked = stream.moved;
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
