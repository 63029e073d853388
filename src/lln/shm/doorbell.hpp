// How a rank that sleeps is woken: a word of shared memory per rank.
//
// A rank sleeps only when nothing can move (safety/ decides who of its threads does that). `asleep` counts its
// sleepers; a sender that sees one changes `rings` and wakes. A ring between the sleeper's last look and its sleep
// changes `rings`, so the kernel does not let it fall asleep.
#pragma once

#include <atomic>
#include <cstdint>

namespace heddle::lln::shm {

struct alignas(64) Doorbell {
  std::atomic<std::uint32_t> asleep;
  std::atomic<std::uint32_t> rings;

  // Wakes the rank's sleepers. The caller has seen `asleep` after its store and a fence.
  void ring();
  // Sleeps unless the bell rang since `seen` was read; returns early on a signal.
  void sleep(std::uint32_t seen);
};

}  // namespace heddle::lln::shm
