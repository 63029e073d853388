// The guarantee of the two halves of an asymmetric fence, for two processes: each writes its own cell, passes its fence and
// reads the other's. At least one of them must see the other's write (Dekker). Round after round; the two meet before each,
// so that their writes and reads come close together.
#pragma once

#include <gtest/gtest.h>

#include "base/platform/platform.hpp"

namespace heddle::test {

template <platform::Platform P>
class FenceBody {
  using order = platform::order;

 public:
  FenceBody(unsigned, unsigned rounds) : rounds_(rounds) {}

  void thread(unsigned id) {
    const bool light = id == 0;
    Side& mine = sides_[id];
    Side& other = sides_[1 - id];
    for (std::uint32_t round = 1; round <= rounds_; ++round) {
      synchronize(mine.ready, other.ready, round);
      mine.said.store(round, order::relaxed);
      if (light) {
        P::light_fence();
      } else {
        P::heavy_fence();
      }
      mine.saw.store(other.said.load(order::relaxed), order::relaxed);
      synchronize(mine.done, other.done, round);
      if (light && mine.saw.load(order::relaxed) != round && other.saw.load(order::relaxed) != round) ++missed_;
    }
  }

  void finish() { EXPECT_EQ(missed_, 0U) << "rounds in which neither side saw the other, of " << rounds_; }

 private:
  using Cell = typename P::template atomic<std::uint32_t>;
  struct Side {
    alignas(platform::cache_line) Cell ready{0};
    alignas(platform::cache_line) Cell said{0};
    alignas(platform::cache_line) Cell saw{0};
    alignas(platform::cache_line) Cell done{0};
  };

  static void synchronize(Cell& mine, const Cell& other, std::uint32_t round) {
    mine.store(round, order::release);
    P::await(other, order::acquire, [round](std::uint32_t seen) { return seen >= round; });
  }

  std::uint32_t rounds_;
  std::uint32_t missed_ = 0;  // written by the light side alone
  Side sides_[2];
};

}  // namespace heddle::test
