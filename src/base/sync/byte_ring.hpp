// Byte ring: room of any length, in one piece, from a ring of bytes; the producer's private end.
//
// Beside a slot ring, whose slots say where the bytes of a longer message lie. One producer at a time, which reads the
// consumer's position only when its own copy says "full".
//
// Positions count all bytes that were ever used; the place is position % bytes. A piece that would wrap begins at the
// next start of the ring, and the rest of this round is left unused. Pieces are whole cache lines.
//
// Memory orders: the consumer releases the end of the bytes it has read, reserve() acquires it: room is handed back
// with it. The carrier of the span hands the bytes over.
#pragma once

#include <cstddef>

#include "base/platform/platform.hpp"

namespace heddle::sync {

struct ByteSpan {
  std::uint64_t begin;  // position; never wrapping
  std::uint64_t end;    // the consumer's position after this piece
  std::uint32_t bytes;
};

template <platform::Platform P, std::size_t Bytes>
class ByteRingProducer {
  using order = platform::order;

 public:
  // Room for `bytes`, at span.begin % Bytes; false if there is none now. It is taken by commit.
  bool reserve(std::uint32_t bytes, const typename P::template atomic<std::uint64_t>& consumed, ByteSpan& span) {
    const std::uint64_t rest = Bytes - position_ % Bytes;
    const std::uint64_t begin = rest < bytes ? position_ + rest : position_;
    const std::uint64_t end = begin + (bytes + platform::cache_line - 1) / platform::cache_line * platform::cache_line;
    if (end - consumed_ > Bytes) {
      consumed_ = consumed.load(order::acquire);
      if (end - consumed_ > Bytes) return false;
    }
    span = {begin, end, bytes};
    return true;
  }
  void commit(const ByteSpan& span) { position_ = span.end; }

 private:
  std::uint64_t position_ = 0;
  std::uint64_t consumed_ = 0;
};

}  // namespace heddle::sync
