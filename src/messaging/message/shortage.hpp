// No memory for what has arrived. Any thread, without the VNI's lock.
#pragma once

#include <atomic>
#include <cstdint>

#include "messaging/message/context.hpp"

namespace heddle::message {

class Shortage {
 public:
  explicit Shortage(const Context& context) : context_(context) {}
  // A message that had arrived found none, and waits; `taken`: messages that the VNI has taken by now. Ends the job when none has been taken for
  // long.
  void note(std::uint32_t taken);

 private:
  const Context& context_;
  std::atomic<std::int64_t> since_{0};
  std::atomic<std::int64_t> last_{0};
  std::atomic<std::uint32_t> taken_{0};
};

}  // namespace heddle::message
