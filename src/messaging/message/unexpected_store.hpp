// The memory of unexpected messages: how one is made, kept until its receive comes, and given back. With the VNI's lock held.
#pragma once

#include <atomic>
#include <cstddef>

#include "base/instruments/cells.hpp"
#include "messaging/message/completion.hpp"
#include "messaging/message/matching.hpp"
#include "network/route.hpp"

namespace heddle::message {

class UnexpectedStore {
 public:
  UnexpectedStore(lln::Route& route, Matcher& matcher, Completion& completion, instruments::Counters& counters)
      : route_(route), matcher_(matcher), completion_(completion), counters_(counters) {}
  ~UnexpectedStore();
  UnexpectedStore(const UnexpectedStore&) = delete;
  UnexpectedStore& operator=(const UnexpectedStore&) = delete;

  // A message that Matcher::take_receive has found no receive for, with room for so many bytes. Throws std::bad_alloc; the matcher has forgotten
  // the message then.
  Unexpected& make(Unexpected::Origin origin, int sender, const lln::Header& header, std::size_t payload_bytes);
  // The same with the payload in it, in a message of `bytes`, and added.
  void keep(Unexpected::Origin origin, int sender, const lln::Header& header, const std::byte* payload,
            std::size_t payload_bytes, std::size_t bytes);
  // The same of an eager message from another node, which is held against its sender's credit until it is dropped.
  void keep_on_credit(int sender, const lln::Header& header, const std::byte* payload, std::size_t payload_bytes,
                      std::size_t bytes);
  // Among those that a receive or a probe may find. A blocked probe is woken.
  void add(Unexpected& message);
  // It is in no queue.
  void drop(Unexpected& message) {
    if (message.payload != message.storage) drop_payload(message);
    message.next = free_;
    free_ = &message;
  }

  std::atomic<std::uint32_t> probers{0};  // threads that are blocked in a probe; any thread changes and reads it

 private:
  void drop_payload(const Unexpected& message);

  lln::Route& route_;
  Matcher& matcher_;
  Completion& completion_;
  instruments::Counters& counters_;
  Unexpected* free_ = nullptr;
};

}  // namespace heddle::message
