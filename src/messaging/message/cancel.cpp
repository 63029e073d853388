// Taking operations back (MPI 5.0, section 3.8.4).
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#include "launch/rank/rank.hpp"
#include "messaging/message/core.hpp"

namespace heddle::message {

namespace {

constexpr RequestType copy_type{
    .name = "copy of a send",
    .start = nullptr,
    .cancel = nullptr,
    .finish = nullptr,
    .destroy =
        [](Request& request) {
          delete[] static_cast<std::byte*>(request.state);
          return success;
        },
};

}  // namespace

// A synchronous send to another node may be taken back later, when its receiver has answered.
bool Core::cancel(Request& request, Wakeups& wakeups) {
  if (request.done.load(std::memory_order_relaxed) == 1) return false;
  if (request.receives ? !matcher_.withdraw(request) : !withdraw(request, wakeups)) return false;
  if (request.receives) request.error = MPI_SUCCESS;  // of one that was told to be pending
  request.cancelled = true;
  finish(request, wakeups);
  return true;
}

// A send to another node of which its receiver has been told cannot be taken back by the sender alone, and the wait for it must not depend on
// the receiver. The library goes on with a copy of the data; the program's request is done and not cancelled, as that of a message that was
// short enough to leave at once. False: there is no memory for the copy, or the network has the program's buffer.
bool Core::go_on_with_copy(Request& send, Wakeups& wakeups) try {
  auto data = std::make_unique_for_overwrite<std::byte[]>(send.capacity);
  Request& copy = take_request();
  copy.owner = Owner::none;
  copy.vni = send.vni;
  copy.order = 0;
  if (send.order != 0) {
    sent_.hand_over(send, copy);
  } else if (!streams_.hand_over(send, copy)) {
    (void)give_back_done(copy);
    return false;
  }
  pack(*send.datatype, send.buffer, send.count, 0, data.get(), send.capacity);
  copy.type = &copy_type;
  copy.context = send.context;
  copy.source = send.source;
  copy.tag = send.tag;
  copy.peer = send.peer;
  copy.mode = send.mode;
  copy.capacity = send.capacity;
  copy.count = static_cast<MPI_Count>(send.capacity);
  copy.datatype = predefined_datatype(MPI_BYTE);
  retain(*copy.datatype);
  copy.buffer = copy.state = data.release();
  if (auto of_send = announced_.extract(&send)) {
    of_send.value() = &copy;
    announced_.insert(std::move(of_send));
  }
  finish(send, wakeups);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

// A send that has not left, one to ourselves that waits for its receive, or one that its receiver has not taken.
bool Core::withdraw(Request& send, Wakeups& wakeups) {
  if (send.peer == rank_.world_rank) {
    Unexpected* const message =
        matcher_.find_unexpected_if(envelope_of(send), [&](const Unexpected& m) { return m.local == &send; });
    if (message == nullptr) return false;
    matcher_.remove_unexpected(*message);
    drop_unexpected(*message);
    return true;
  }
  if (outbox_.remove(send)) {
    forget_claim(send);
    return true;
  }
  if (!route_.is_remote(send.peer)) {
    Transfer* const staged = transfers_.claim_untouched(send);
    if (staged != nullptr && claims_.withdraw(staged->claim)) {
      transfers_.drop(*staged);
    } else {
      if (staged != nullptr)
        transfers_.put_back(*staged);  // or it is of an earlier send, which its receiver has fetched
      if (send.order == node::nowhere || !claims_.withdraw(send.order)) return false;
    }
    announced_.erase(&send);
    return true;
  }
  if (!is_synchronous(send) && go_on_with_copy(send, wakeups)) return false;
  const std::uint64_t name = send.order;
  if (name == 0) return false;  // its receiver has answered
  send_retract(send, name, wakeups);
  return false;
}

// With the envelope of the message, by which the receiver finds it.
void Core::send_retract(const Request& send, std::uint64_t name, Wakeups& wakeups) {
  const lln::Header header{lln::MessageKind::retract, send.source, send.tag, send.context};
  send_control(send.peer, header, &name, sizeof name, wakeups);
}

// The sender of a message cancels it. What names it comes behind it, so it is here, or has been received.
void Core::arrive_retract(int sender, const lln::Header& header, std::uint64_t name, Wakeups& wakeups) {
  Unexpected* const message = matcher_.find_unexpected_if(envelope_of(header), [&](const Unexpected& m) {
    return m.sender == sender && m.local == nullptr && name_of_request(m.header, m.payload) == name;
  });
  if (message != nullptr) {
    matcher_.remove_unexpected(*message);
    drop_unexpected(*message);
  }
  const lln::Header answer{lln::MessageKind::retracted, message != nullptr ? 1 : 0, 0, 0};
  send_control(sender, answer, &name, sizeof name, wakeups);
}

// Of a send that is about to be finished: its message has been received, or has never left.
void Core::forget_claim(Request& request) {
  if (request.receives) return;
  if (!announced_.empty()) announced_.erase(&request);
  if (request.order == node::nowhere) return;
  if (route_.is_remote(request.peer)) return sent_.withdraw(request);
  claims_.recycle(request.order);
  request.order = node::nowhere;
}

}  // namespace heddle::message
