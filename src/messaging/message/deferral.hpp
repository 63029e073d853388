// Sends that the program leaves to an idle core (base/progress/idle_cores.hpp), which then copies their data. Until such a send has left, later
// messages to the same peer wait behind it in the outbox.
#pragma once

#include <cstddef>
#include <limits>

#include "base/progress/idle_cores.hpp"
#include "messaging/message/outbox/outbox.hpp"
#include "objects/object/request.hpp"

namespace heddle::message {

class Deferral {
 public:
  // From here on sends of `from` bytes and more may be left to idle cores; and no longer. No thread is sending.
  void begin(std::size_t from, progress::IdleCores& idle_cores) {
    idle_cores_ = &idle_cores;
    from_ = from;
  }
  void end() {
    from_ = std::numeric_limits<std::size_t>::max();
    idle_cores_ = nullptr;
  }

  // Any thread: whether a send of so many bytes is long enough.
  bool concerns(std::size_t bytes) const { return bytes >= from_; }
  // Any thread, before it takes the VNI's lock to start such a send: fetches together the lines that an idle core has written last.
  void fetch(const Request& send, const Outbox& outbox) const {
    if (!concerns(send.capacity)) return;
    idle_cores_->fetch_for_question();
    outbox.fetch_for_append(send.peer);
  }
  // With the VNI's lock held. Whether an idle core would take the send now.
  bool available() const { return idle_cores_->available(); }
  bool blocked() const { return idle_cores_->blocked(); }

 private:
  std::size_t from_ = std::numeric_limits<std::size_t>::max();
  progress::IdleCores* idle_cores_ = nullptr;
};

}  // namespace heddle::message
