// What the other ranks see of an endpoint: where they ring, and where they hang their channels to it.
#pragma once

#include <atomic>

#include "lln/shm/heap.hpp"
#include "platform/native.hpp"
#include "sync/doorbell.hpp"

namespace heddle::lln::shm {

using Doorbell = sync::Doorbell<platform::Native>;

struct Box {
  Doorbell doorbell;                        // of VNI 0: the rank's
  alignas(64) std::atomic<Offset> inbound;  // channels to this rank, newest first
  std::atomic<Offset> fluxes;               // the same
};
static_assert(sizeof(Box) == 128);

}  // namespace heddle::lln::shm
