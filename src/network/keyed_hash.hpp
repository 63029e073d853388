// SipHash-2-4 (J.-P. Aumasson and D. J. Bernstein, "SipHash: a fast short-input PRF", INDOCRYPT 2012): proves knowledge
// of the job's secret without sending it.
#pragma once

#include <sys/random.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace heddle::lln {

struct Secret {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  bool operator==(const Secret&) const = default;
};

// From the kernel, for unpredictable values.
inline std::uint64_t random_word() {
  std::uint64_t word = 0;
  while (getrandom(&word, sizeof word, 0) != sizeof word) {
  }
  return word;
}
inline Secret random_secret() { return {random_word(), random_word()}; }

constexpr std::uint64_t keyed_hash(const Secret& secret, std::string_view text) {
  std::array<std::uint64_t, 4> v{secret.low ^ 0x736f6d6570736575, secret.high ^ 0x646f72616e646f6d,
                                 secret.low ^ 0x6c7967656e657261, secret.high ^ 0x7465646279746573};
  const auto mix = [&v](std::size_t a, std::size_t b, int left, bool swap) {
    v[a] += v[b];
    v[b] = std::rotl(v[b], left) ^ v[a];
    if (swap) v[a] = std::rotl(v[a], 32);
  };
  const auto rounds = [&](int n) {
    while (n-- > 0) {
      mix(0, 1, 13, true);
      mix(2, 3, 16, false);
      mix(0, 3, 21, false);
      mix(2, 1, 17, true);
    }
  };
  const auto take = [&](std::uint64_t word) {
    v[3] ^= word;
    rounds(2);
    v[0] ^= word;
  };
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    word |= static_cast<std::uint64_t>(static_cast<unsigned char>(text[i])) << 8 * (i % 8);
    if (i % 8 != 7) continue;
    take(word);
    word = 0;
  }
  take(word | static_cast<std::uint64_t>(text.size()) << 56);
  v[2] ^= 0xff;
  rounds(4);
  return v[0] ^ v[1] ^ v[2] ^ v[3];
}

}  // namespace heddle::lln
