// The inner loops of pack and unpack: blocks of bytes between a packed stream and the places of a layout.
//
// The length of a block decides. Common short ones are compiled in, so that a block is a load and a store; up to a
// cache line a copy is cheaper than a call; beyond that memcpy is right. Loads and stores go through memcpy because
// user data need not be aligned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "objects/datatype/program.hpp"

namespace heddle::datatype {

template <std::size_t N>
using Length = std::integral_constant<std::size_t, N>;

// Two copies of N bytes that together cover n, N <= n <= 2N.
template <std::size_t N>
inline void copy_overlapping(char* to, const char* from, std::size_t n) {
  char head[N], tail[N];
  std::memcpy(head, from, N);
  std::memcpy(tail, from + n - N, N);
  std::memcpy(to, head, N);
  std::memcpy(to + n - N, tail, N);
}

inline void copy_block(char* to, const char* from, std::size_t n) {
  constexpr std::size_t worth_a_call = 64;
  if (n > worth_a_call) {
    std::memcpy(to, from, n);
  } else if (n >= 16) {
    for (std::size_t i = 0; i + 16 < n; i += 16) std::memcpy(to + i, from + i, 16);
    std::memcpy(to + n - 16, from + n - 16, 16);
  } else if (n >= 8) {
    copy_overlapping<8>(to, from, n);
  } else if (n >= 4) {
    copy_overlapping<4>(to, from, n);
  } else if (n >= 2) {
    copy_overlapping<2>(to, from, n);
  } else if (n == 1) {
    *to = *from;
  }
}

template <std::size_t N>
inline void copy_block(char* to, const char* from, Length<N>) {
  std::memcpy(to, from, N);
}

// Calls f with the length, as a constant if it is a common one.
template <class F>
inline void with_length(std::size_t n, F&& f) {
  switch (n) {
    case 1:
      return f(Length<1>{});
    case 2:
      return f(Length<2>{});
    case 4:
      return f(Length<4>{});
    case 8:
      return f(Length<8>{});
    case 12:
      return f(Length<12>{});
    case 16:
      return f(Length<16>{});
    case 24:
      return f(Length<24>{});
    case 32:
      return f(Length<32>{});
    default:
      return f(n);
  }
}

enum class Direction { pack, unpack };

// Moves the data that a walk (walk.hpp) visits, and keeps the position in the stream. Addresses are integers because a
// datatype may be relative to MPI_BOTTOM, which is no object to do pointer arithmetic in.
template <Direction direction>
class Mover {
  using Stream = std::conditional_t<direction == Direction::pack, char*, const char*>;

 public:
  explicit Mover(Stream stream) : stream_(stream) {}

  bool run(std::uintptr_t at, std::size_t n) {
    move(at, n);
    return true;
  }

  // `outer` times, `outer_stride` apart: `count` blocks of `length`, `stride` apart.
  bool grid(std::uintptr_t at, std::size_t length, std::int64_t count, std::int64_t stride, std::int64_t outer,
            std::int64_t outer_stride) {
    with_length(length, [=, this](auto n) {
      std::uintptr_t row = at;
      for (std::int64_t i = 0; i < outer; ++i, row += static_cast<std::uintptr_t>(outer_stride)) {
        std::uintptr_t block = row;
        for (std::int64_t j = 0; j < count; ++j, block += static_cast<std::uintptr_t>(stride)) move(block, n);
      }
    });
    return true;
  }

  bool blocks(std::uintptr_t at, std::size_t length, std::int64_t count, const std::int64_t* offsets) {
    with_length(length, [=, this](auto n) {
      for (std::int64_t i = 0; i < count; ++i) move(at + static_cast<std::uintptr_t>(offsets[i]), n);
    });
    return true;
  }

  bool entries(std::uintptr_t at, std::int64_t count, const Entry* entry) {
    for (std::int64_t i = 0; i < count; ++i, ++entry) {
      move(at + static_cast<std::uintptr_t>(entry->disp), entry[1].start - entry[0].start);
    }
    return true;
  }

 private:
  template <class N>
  void move(std::uintptr_t at, N n) {
    if constexpr (direction == Direction::pack) {
      copy_block(stream_, reinterpret_cast<const char*>(at), n);
    } else {
      copy_block(reinterpret_cast<char*>(at), stream_, n);
    }
    stream_ += n;
  }

  Stream stream_;
};

}  // namespace heddle::datatype
