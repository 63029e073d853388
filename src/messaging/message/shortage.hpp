// Bounds the time for which a VNI has no memory for messages that have arrived. Any thread, without the VNI's lock.
#pragma once

#include <atomic>
#include <cstdint>

#include "messaging/message/context.hpp"

namespace heddle::message {

class Shortage {
 public:
  explicit Shortage(const Context& context) : context_(context) {}
  // There was no memory for a message that has arrived; the message waits. `taken`: the number of messages that the VNI has taken so far.
  // Ends the job if that number has not changed for a long time.
  void note(std::uint32_t taken);

 private:
  const Context& context_;
  std::atomic<std::int64_t> since_{0};
  std::atomic<std::int64_t> last_{0};
  std::atomic<std::uint32_t> taken_{0};
};

}  // namespace heddle::message
