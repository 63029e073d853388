// Messages of a rank to itself, without a network: one copy from buffer to buffer, or two if the send may complete before it is received.
#pragma once

#include "messaging/message/protocol/parts.hpp"

namespace heddle::message {

class SelfProtocol {
 public:
  explicit SelfProtocol(const Parts& parts) : parts_(parts) {}

  // Throws std::bad_alloc.
  void start(Request& send, Wakeups& wakeups);
  // A receive has matched a message whose data are in the sender's buffer.
  void accept(Request& receive, Request& send, Wakeups& wakeups);
  // True: no receive has matched the send, and it is withdrawn.
  bool cancel(const Request& send);

 private:
  const Parts& parts_;
};

}  // namespace heddle::message
