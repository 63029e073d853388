// How a thread polls a VNI.
#pragma once

#include "base/safety/urgency.hpp"
#include "network/network.hpp"
#include "objects/object/request.hpp"

namespace heddle::engine {

struct PollMode {
  safety::Urgency urgency = safety::Urgency::attempt;
  bool peek = true;            // enter the VNI only if it has work
  int most = lln::poll_batch;  // the limit of messages taken from each peer
  // The receive that the caller waits for, or null. If the poll finds no work and the receive is of this VNI, the poll accepts the
  // receives announced at its gate (matching.hpp), so that the message need not wait for that when it arrives.
  const Request* expected = nullptr;
  bool all_alike = false;  // poll the other VNIs each time, not now and then
};

}  // namespace heddle::engine
