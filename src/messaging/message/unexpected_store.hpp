// The memory of unexpected messages: allocated on arrival, kept until a receive takes the message. With the VNI's lock held.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <deque>

#include "base/instruments/cells.hpp"
#include "base/platform/zeroed_array.hpp"
#include "messaging/message/completion.hpp"
#include "messaging/message/matching.hpp"
#include "network/route.hpp"

namespace heddle::message {

// Is told of unexpected messages, with the lock of their VNI held.
struct UnexpectedWatch {
  virtual void on_unexpected() = 0;

 protected:
  ~UnexpectedWatch() = default;
};

class UnexpectedStore {
 public:
  // `ranks`: the most ranks that the job can have.
  UnexpectedStore(int ranks, lln::Route& route, Matcher& matcher, wake::Wake& wake, instruments::Counters& counters)
      : route_(route), matcher_(matcher), wake_(wake), counters_(counters), stamps_(static_cast<std::size_t>(ranks)) {}
  UnexpectedStore(const UnexpectedStore&) = delete;
  UnexpectedStore& operator=(const UnexpectedStore&) = delete;

  // Allocates a message for which Matcher::take_receive has found no receive, with room for the payload. Throws std::bad_alloc; the
  // matcher then has forgotten the message.
  Unexpected& make(Unexpected::Origin origin, int sender, const lln::Header& header, std::size_t payload_bytes);
  // The same for a message of `bytes` bytes; copies the payload and adds the message.
  void keep(Unexpected::Origin origin, int sender, const lln::Header& header, const std::byte* payload,
            std::size_t payload_bytes, std::size_t bytes);
  // The same for an eager message from another node, which uses its sender's credit until it is dropped.
  void keep_on_credit(int sender, const lln::Header& header, const std::byte* payload, std::size_t payload_bytes,
                      std::size_t bytes);
  // The sender has changed to this lane.
  void note_stamp(int sender, std::uint64_t stamp) {
    std::uint64_t& last = stamps_[static_cast<std::size_t>(sender)];
    last = std::max(last, stamp);
  }
  // Adds the message to those that a receive or a probe may find, tells the watch, and wakes threads that are blocked in a probe.
  void add(Unexpected& message);
  // Releases a message that is in no queue.
  void drop(Unexpected& message) {
    if (message.payload != message.storage) drop_payload(message);
    message.next = free_;
    free_ = &message;
  }

  std::atomic<std::uint32_t> probers{0};         // threads that are blocked in a probe; for any thread
  std::atomic<UnexpectedWatch*> watch{nullptr};  // for any thread

 private:
  void drop_payload(Unexpected& message);

  lln::Route& route_;
  Matcher& matcher_;
  wake::Wake& wake_;
  instruments::Counters& counters_;
  platform::ZeroedArray<std::uint64_t> stamps_;  // by sender: the last one
  Unexpected* free_ = nullptr;
  std::deque<Unexpected> messages_;  // all: those in use and the free ones
};

}  // namespace heddle::message
