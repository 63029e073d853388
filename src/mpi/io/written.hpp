// The given bytes of a buffer: those, and no others, are written.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace heddle::io {

class Written {
 public:
  explicit Written(std::size_t bytes) : bytes_(bytes), words_((bytes + 63) / 64) {}

  void clear() { words_.assign(words_.size(), 0); }

  void mark(std::size_t first, std::size_t length) {
    const std::size_t end = first + length;
    std::size_t word = first / 64;
    const std::size_t last = (end - 1) / 64;
    const std::uint64_t head = ~std::uint64_t{0} << first % 64;
    const std::uint64_t tail = ~std::uint64_t{0} >> (63 - (end - 1) % 64);
    if (word == last) {
      words_[word] |= head & tail;
      return;
    }
    words_[word] |= head;
    while (++word < last) words_[word] = ~std::uint64_t{0};
    words_[last] |= tail;
  }

  // The first contiguous part at or behind `from`: false if there is none.
  bool find(std::size_t from, std::size_t& first, std::size_t& length) const {
    first = next(from, 0);
    if (first >= bytes_) return false;
    length = next(first, ~std::uint64_t{0}) - first;
    return true;
  }

 private:
  // The first byte at or behind `from` whose bit differs from those of `skipped`; bytes_ if there is none.
  std::size_t next(std::size_t from, std::uint64_t skipped) const {
    if (from >= bytes_) return bytes_;
    std::size_t word = from / 64;
    std::uint64_t bits = (words_[word] ^ skipped) & (~std::uint64_t{0} << from % 64);
    while (bits == 0) {
      if (++word == words_.size()) return bytes_;
      bits = words_[word] ^ skipped;
    }
    const std::size_t found = word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
    return found < bytes_ ? found : bytes_;
  }

  std::size_t bytes_;
  std::vector<std::uint64_t> words_;
};

}  // namespace heddle::io
