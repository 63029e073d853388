// Messages to one rank of a simulated job, beside a model of two lists that says which receive gets which message (MPI 5.0, section 3.5): a
// message goes to the oldest receive that it fits, a receive takes the oldest message.
//
// If all messages come from one rank, that does not depend on when they arrive. If they come from several, let_arrive() after each makes the
// order of sending that of arrival.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <optional>

#include "messaging/message/simulator/job.hpp"
#include "messaging/message/simulator/message.hpp"

namespace heddle::message::simulator {

class Traffic {
 public:
  Traffic(const Setting& setting, int receiver) : job_(setting), receiver_(receiver) {}

  Job& job() { return job_; }

  void send(const Shape& shape, int tag) {
    Flying& one = flying_.emplace_back(job_, shape, tag, ++numbers_);
    all_arrived_ = false;
    one.sent.start();
    const auto fits = [&](const Posted& posted) { return posted.gets == nullptr && posted.accepts(one.sent); };
    if (const auto to = std::ranges::find_if(posted_, fits); to != posted_.end()) pair(one, *to);
  }
  void post(const Shape& shape, int source, int tag) {
    Posted& one = posted_.emplace_back(job_, shape, source, tag);
    all_arrived_ = false;
    if (Flying* const message = oldest(source, tag)) pair(*message, one);
    one.received.start();
  }
  // The oldest message that fits, if it has arrived. With `take` it is received.
  void probe(const Shape& shape, int source, int tag, bool take) {
    Flying* const expected = oldest(source, tag);
    Unexpected* const found = job_[receiver_].probe(job_.context(), source, tag, take);
    if (all_arrived_) {
      EXPECT_EQ(found != nullptr, expected != nullptr);
    }
    if (found == nullptr) return;
    ASSERT_NE(expected, nullptr) << "a message that is another's";
    EXPECT_EQ(found->header.source, expected->sent.source());
    EXPECT_EQ(found->header.tag, expected->sent.tag());
    EXPECT_EQ(found->bytes, expected->sent.request().capacity);
    if (!take) return;
    Posted& one = posted_.emplace_back(job_, shape, source, tag);
    pair(*expected, one);
    all_arrived_ = false;
    one.received.start(*found);
  }
  // Takes back the oldest receive that has no message, or the oldest send that has no receive.
  void cancel_receive() {
    const auto one = std::ranges::find(posted_, nullptr, &Posted::gets);
    if (one == posted_.end()) return;
    EXPECT_TRUE(one->received.cancel());
    EXPECT_TRUE(one->received.is_done());
    posted_.erase(one);
  }
  void cancel_send() { cancel_send(std::ranges::find(flying_, nullptr, &Flying::to)); }
  // The newest of all sends, which may wait to leave.
  void cancel_newest_send() {
    if (!flying_.empty() && flying_.back().to == nullptr) cancel_send(std::prev(flying_.end()));
  }

  // Polls until nothing moves. Removes the messages that have arrived with their receives.
  void let_arrive() {
    ASSERT_TRUE(job_.resolve());
    all_arrived_ = true;
    for (auto one = posted_.begin(); one != posted_.end();) {
      const auto posted = one++;
      if (posted->gets == nullptr) {
        EXPECT_FALSE(posted->received.is_done()) << "a receive has got a message that is another's";
        continue;
      }
      const Sent& sent = posted->gets->sent;
      ASSERT_TRUE(posted->received.is_done()) << "a receive has not ended";
      ASSERT_TRUE(sent.is_done()) << "a send has not ended";
      EXPECT_EQ(sent.request().error, MPI_SUCCESS);
      posted->received.check(sent);
      flying_.remove_if([&](const Flying& flying) { return flying.to == &*posted; });
      posted_.erase(posted);
    }
  }
  std::size_t completed_sends() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(flying_, [](const Flying& one) { return one.sent.is_done(); }));
  }
  std::size_t unreceived() const { return flying_.size(); }
  std::size_t waiting() const { return posted_.size(); }
  // Takes what has come, withdraws what is posted, and finds nothing left.
  void finish() {
    let_arrive();
    while (waiting() != 0 && !testing::Test::HasFailure()) cancel_receive();
    while (unreceived() != 0 && !testing::Test::HasFailure()) {
      const auto bytes = flying_.front().sent.request().capacity;
      post({.to = receiver_, .bytes = bytes, .room = bytes}, MPI_ANY_SOURCE, MPI_ANY_TAG);
      let_arrive();
    }
    job_.check_empty();
  }

 private:
  struct Posted;
  struct Flying;
  void cancel_send(std::list<Flying>::iterator one) {
    if (one == flying_.end() || one->sent.is_done()) return;
    const bool taken_back = one->sent.cancel();
    EXPECT_EQ(taken_back, one->sent.request().cancelled);
    if (!taken_back) {  // a receiver on another node may have been asked
      ASSERT_TRUE(job_.resolve());
      EXPECT_TRUE(one->sent.is_done()) << "a send that was cancelled waits";
    }
    if (one->sent.request().cancelled) flying_.erase(one);
  }

  struct Flying {
    Flying(Job& job, const Shape& shape, int tag, int number) : sent(job, shape, tag, number) {}
    Sent sent;
    const Posted* to = nullptr;
  };
  struct Posted {
    Posted(Job& job, const Shape& shape, int source, int tag)
        : received(job, shape, source, tag), source(source), tag(tag) {}
    bool accepts(const Sent& sent) const { return fits(source, tag, sent); }
    Received received;
    const int source, tag;
    const Flying* gets = nullptr;
  };

  static bool fits(int source, int tag, const Sent& sent) {
    return (source == MPI_ANY_SOURCE || source == sent.source()) && (tag == MPI_ANY_TAG || tag == sent.tag());
  }
  Flying* oldest(int source, int tag) {
    const auto found = std::ranges::find_if(
        flying_, [&](const Flying& one) { return one.to == nullptr && fits(source, tag, one.sent); });
    return found == flying_.end() ? nullptr : &*found;
  }
  static void pair(Flying& message, Posted& receive) {
    message.to = &receive;
    receive.gets = &message;
  }

  Job job_;
  const int receiver_;
  std::list<Flying> flying_;  // in the order of sending
  std::list<Posted> posted_;  // in the order of posting
  int numbers_ = 0;
  bool all_arrived_ = true;
};

}  // namespace heddle::message::simulator
