// How a thread looks at a VNI, in an attempt to move everything.
#pragma once

#include "base/safety/urgency.hpp"
#include "network/network.hpp"
#include "objects/object/request.hpp"

namespace heddle::engine {

struct PollMode {
  safety::Urgency urgency = safety::Urgency::attempt;
  bool peek = true;            // it enters the VNI only if there is something to do
  int most = lln::poll_batch;  // messages that it takes of each peer
  // What it waits for. If it finds nothing to do, and this is a receive of that VNI, it takes in what was announced where the
  // message will look (matching.hpp), which the message would otherwise wait for.
  const Request* expected = nullptr;
  bool all_alike = false;  // the other VNIs are looked at each time, not now and then
};

}  // namespace heddle::engine
