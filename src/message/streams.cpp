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

constexpr int pieces_at_a_time = 16;  // of one message, so that none starves the others

}  // namespace

Streams::~Streams() {
  while (Stream* stream = free_) {
    free_ = stream->following;
    delete stream;
  }
}

void Streams::reserve() {
  if (free_ == nullptr) free_ = new Stream;
}

Streams::Stream& Streams::make(Request& request, int peer, std::size_t bytes) {
  reserve();
  Stream& stream = *free_;
  free_ = stream.following;
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
  stream.following = free_;
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
  stream.direct = cts.protocol == Protocol::direct && is_run(*send.datatype, send.count);
  stream.following = outwards_;
  outwards_ = &stream;
}

bool Streams::arrived(int sender, const std::byte* payload, std::size_t bytes, Wakeups& wakeups) {
  Piece piece;
  if (bytes < sizeof piece) return false;
  std::memcpy(&piece, payload, sizeof piece);
  Stream* const there = find(piece.receiver);
  if (there == nullptr || !there->inwards || there->peer != sender || there->expected) return false;
  Stream& stream = *there;
  Request& receive = *stream.request;
  const std::size_t n = bytes - sizeof piece;
  if (n > stream.bytes - stream.moved || piece.position > stream.bytes - n) return false;
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

bool Streams::post_whole(Stream& stream) {
  const Request& send = *stream.request;
  const auto* const memory = static_cast<const std::byte*>(run_start(*send.datatype, send.buffer));
  return core_.route().post_long(stream.peer, stream.receiver, {memory, stream.bytes}, stream.name) ==
         lln::Posted::done;
}

bool Streams::post_piece(Stream& stream, Wakeups& wakeups) {
  const Request& send = *stream.request;
  const std::size_t n = std::min(core_.route().remote_eager_bytes() - sizeof(Piece), stream.bytes - stream.moved);
  const auto fill = [&](std::byte* to) {
    const Piece piece{stream.receiver, stream.moved};
    std::memcpy(to, &piece, sizeof piece);
    pack(*send.datatype, send.buffer, send.count, stream.moved, to + sizeof piece, n);
  };
  const Header header{MessageKind::data, 0, 0, 0};
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
  if (core_.route().post(stream.peer, header, sizeof(Piece) + n, fill) != lln::Posted::done) return false;
  stream.moved += n;
  return true;
}

bool Streams::flush(std::uint32_t& ended, Wakeups& wakeups) {
  bool moved = false;
  for (Stream** link = &outwards_; *link != nullptr;) {
    Stream& stream = **link;
    if (stream.direct) {
      if (!post_whole(stream)) {
        link = &stream.following;
        continue;
      }
      *link = stream.following;
      moved = true;
      ++ended;  // what is left is the network's
      continue;
    }
    for (int left = pieces_at_a_time; left != 0 && stream.moved < stream.bytes && post_piece(stream, wakeups); --left)
      moved = true;
    if (stream.moved < stream.bytes) {
      link = &stream.following;
      continue;
    }
    *link = stream.following;
    Request& send = *stream.request;
    retire(stream);
    core_.finish(send, wakeups);
    ++ended;
  }
  return moved;
}

void Streams::want_room() {
  for (const Stream* stream = outwards_; stream != nullptr; stream = stream->following)
    core_.route().want_room(stream->peer);
}

}  // namespace heddle::message
