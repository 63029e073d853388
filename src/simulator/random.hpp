// Random numbers that are a function of a seed: splitmix64.
#pragma once

#include <cmath>
#include <cstdint>

namespace heddle::simulator {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  std::uint64_t below(std::uint64_t n) { return next() % n; }
  // Distances between events that happen once in `mean` on average.
  double exponential(double mean) { return -mean * std::log((static_cast<double>(next() >> 11) + 1) * 0x1p-53); }

 private:
  std::uint64_t state_;
};

}  // namespace heddle::simulator
