// IEEE 754 half precision, for MPI_REAL2 and MPI_COMPLEX4. Arithmetic is in single precision, rounded once per
// operation; that is correctly rounded, because single has more than twice the bits of half.
#pragma once

#include <bit>
#include <cstdint>

namespace heddle::op {

struct Half {
  std::uint16_t bits;

  Half() = default;
  constexpr Half(float value) : bits(rounded(value)) {}

  constexpr operator float() const {
    const std::uint32_t sign = std::uint32_t{bits & 0x8000u} << 16;
    const std::uint32_t exponent = bits >> 10 & 0x1f;
    const std::uint32_t fraction = bits & 0x3ff;
    if (exponent == 0) {  // zero or subnormal: fraction * 2^-24, which a float holds exactly
      const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
      return sign != 0 ? -magnitude : magnitude;
    }
    const std::uint32_t wide = exponent == 0x1f ? 0xff : exponent + (127 - 15);
    return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
  }

 private:
  static constexpr std::uint16_t rounded(float value) {
    const auto all = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = all >> 16 & 0x8000;
    const std::uint32_t magnitude = all & 0x7fffffff;
    constexpr std::uint32_t infinity = 0x7f800000;
    constexpr std::uint32_t overflows = 0x477ff000;        // 65520, halfway between the largest half and 2^16
    constexpr std::uint32_t smallest_normal = 0x38800000;  // 2^-14
    if (magnitude > infinity) return static_cast<std::uint16_t>(sign | 0x7e00);
    if (magnitude >= overflows) return static_cast<std::uint16_t>(sign | 0x7c00);
    if (magnitude < smallest_normal) {
      // Adding 2^-1 to a number below 2^-14 rounds it to a multiple of 2^-24, to even, in the sum's last bits.
      const float sum = std::bit_cast<float>(magnitude) + 0.5f;
      return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(sum) - 0x3f000000));
    }
    const std::uint32_t odd = magnitude >> 13 & 1;
    const std::uint32_t result = (magnitude + 0xfff + odd - ((127 - 15) << 23)) >> 13;
    return static_cast<std::uint16_t>(sign | result);
  }
};

}  // namespace heddle::op
