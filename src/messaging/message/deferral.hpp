// Deferred sends: an idle core (base/progress/idle_cores.hpp) copies the data of a send. Until that send has left, later messages to the
// same peer wait behind it in the outbox.
#pragma once

#include <cstddef>
#include <limits>

#include "base/progress/idle_cores.hpp"
#include "messaging/message/outbox/outbox.hpp"
#include "objects/object/request.hpp"

namespace heddle::message {

class Deferral {
 public:
  // Between begin() and end() sends of `from` bytes or more may be deferred to idle cores. No thread sends during these two calls.
  void begin(std::size_t from, progress::IdleCores& idle_cores) {
    idle_cores_ = &idle_cores;
    from_ = from;
  }
  void end() {
    from_ = std::numeric_limits<std::size_t>::max();
    idle_cores_ = nullptr;
  }

  // Any thread. True if a send of this many bytes is long enough to be deferred.
  bool concerns(std::size_t bytes) const { return bytes >= from_; }
  // Any thread, before it takes the VNI's lock to start such a send. Prefetches the cache lines that an idle core has written last.
  void fetch(const Request& send, const Outbox& outbox) const {
    if (!concerns(send.capacity)) return;
    idle_cores_->fetch_for_question();
    outbox.fetch_for_append(send.peer);
  }
  // With the VNI's lock held. True if an idle core would take the send now.
  bool available() const { return idle_cores_->available(); }
  bool blocked() const { return idle_cores_->blocked(); }

 private:
  std::size_t from_ = std::numeric_limits<std::size_t>::max();
  progress::IdleCores* idle_cores_ = nullptr;
};

}  // namespace heddle::message
