// How a rank that sleeps is woken: a word of shared memory per rank.
//
// A rank sleeps only when nothing can move (safety/ decides who of its threads does that). `asleep` counts its
// sleepers; a sender that sees one changes `rings` and wakes. A ring between the sleeper's last look and its sleep
// changes `rings`, so the kernel does not let it fall asleep.
//
// A rank may have a helper on idle cores (progress/idle_cores.hpp), which listens, asleep or awake, for rings that no thread
// of the program is there to hear. It is a bit of `asleep`, so that a sender has one word to look at; the ring that finds
// the bit alone takes it away, so that it is told once.
#pragma once

#include <atomic>
#include <cstdint>

#include "platform/native.hpp"

namespace heddle::lln::shm {

struct alignas(64) Doorbell {
  static constexpr std::uint32_t helper_listens = std::uint32_t{1} << 31;

  std::atomic<std::uint32_t> asleep;
  std::atomic<std::uint32_t> rings;
  std::atomic<std::uint32_t> calls;           // of the helper
  std::atomic<std::uint32_t> called_another;  // the rank has called another's helper, and its next wait has not begun

  // Wakes the rank's sleepers, or else calls its helper: then true. The caller has seen `asleep` after its store and a
  // fence.
  bool ring();
  // After a store that whoever sleeps here would want to see: rings if somebody does, or listens.
  void rouse() {
    platform::Native::light_fence();
    if (asleep.load(std::memory_order_relaxed) != 0) [[unlikely]]
      ring();
  }
  // Sleeps unless the bell rang since `seen` was read; returns early on a signal.
  void sleep(std::uint32_t seen);

  // ---- The helper

  void listen();
  void listen_no_more();
  // Sleeps unless it was called since `seen` was read; may return early.
  void await_call(std::uint32_t seen);
  void call();
  // If it listens, whoever else sleeps; whether it did.
  bool call_listener();
};

}  // namespace heddle::lln::shm
