// What the other ranks see of an endpoint: where they ring, and where they hang their ways to it.
#pragma once

#include <atomic>

#include "lln/shm/doorbell.hpp"
#include "lln/shm/heap.hpp"

namespace heddle::lln::shm {

struct Box {
  Doorbell doorbell;                        // of VNI 0: the rank's
  alignas(64) std::atomic<Offset> inbound;  // channels to this rank, newest first
  std::atomic<Offset> fluxes;               // the same
};
static_assert(sizeof(Box) == 128);

}  // namespace heddle::lln::shm
