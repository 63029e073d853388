// Many messages that wait: for a channel or a network that is full, for credit, for the faster way of copying; and what their senders, receivers
// and counters are told.
#include <gtest/gtest.h>
#include <mpi-ext.h>

#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/instruments/counters.hpp"
#include "base/safety/waiter.hpp"
#include "messaging/message/simulator/job.hpp"
#include "messaging/message/simulator/memory.hpp"
#include "messaging/message/simulator/message.hpp"
#include "messaging/message/simulator/traffic.hpp"

namespace heddle::message::simulator {
namespace {

using instruments::Count;

constexpr std::size_t KiB = 1024;
constexpr Sending every_sending[] = {Sending::start, Sending::wait, Sending::go_on};

// More than a channel has slots, of one length after the other.
void send_many(Traffic& traffic, int to, Sending sending, std::initializer_list<std::size_t> lengths, int n) {
  for (int i = 0; i < n; ++i)
    traffic.send({.from = 0,
                  .to = to,
                  .bytes = lengths.begin()[static_cast<std::size_t>(i) % lengths.size()],
                  .mode = i % 16 == 5 ? Mode::synchronous : Mode::standard,
                  .sending = sending},
                 i % 3);
}
void receive_many(Traffic& traffic, int to, int n) {
  for (int i = 0; i < n; ++i)
    traffic.post({.to = to, .room = 64 * KiB}, i % 2 == 0 ? 0 : MPI_ANY_SOURCE, i % 4 == 0 ? MPI_ANY_TAG : i % 3);
}

TEST(Numbers, WaitForAChannelThatIsFull) {
  for (const lln::Claiming claiming : {lln::Claiming::exclusive, lln::Claiming::concurrent, lln::Claiming::by_flux}) {
    for (const Sending sending : every_sending) {
      SCOPED_TRACE(static_cast<int>(sending));
      Traffic traffic({.claiming = claiming}, 1);
      VniState& sender = traffic.job()[0];
      EXPECT_EQ(sender.slow_peer(), -1);
      send_many(traffic, 1, sending, {8, 64, 3000, 24 * KiB}, 400);
      EXPECT_TRUE(sender.any_unsent());
      EXPECT_TRUE(sender.something_begun());
      EXPECT_EQ(sender.slow_peer(), 1);
      for (int i = 0; i < 20; ++i) traffic.cancel_newest_send();
      receive_many(traffic, 1, 200);
      traffic.let_arrive();
      EXPECT_FALSE(sender.any_unsent());
      traffic.finish();
    }
  }
}

TEST(Numbers, WaitForANetworkThatTakesNothing) {
  for (const char* strategy : {"direct", "aggregate", "auto", "priority", "split"}) {
    for (const Sending sending : every_sending) {
      SCOPED_TRACE(std::string(strategy) + ", sending " + std::to_string(static_cast<int>(sending)));
      Traffic traffic({.strategy = strategy}, 2);
      VniState& sender = traffic.job()[0];
      traffic.job().network().refuses = 1'000'000;
      send_many(traffic, 2, sending, {8, 64, 0, 2032, 8 * KiB}, 60);
      EXPECT_TRUE(sender.any_unsent());
      EXPECT_EQ(sender.slow_peer(), 2);
      sender.prepare_to_sleep();
      EXPECT_EQ(traffic.job().end(0).wanted(), std::vector{2});
      for (int i = 0; i < 5; ++i) traffic.cancel_newest_send();
      traffic.job().network().refuses = 0;
      receive_many(traffic, 2, 30);
      traffic.let_arrive();
      EXPECT_EQ(sender.slow_peer(), -1);
      sender.prepare_to_sleep();
      EXPECT_TRUE(traffic.job().end(0).wanted().empty());
      traffic.finish();
    }
  }
}

// More than the receiver stores: the rest waits for credit, and then is announced.
TEST(Numbers, WaitForCredit) {
  for (const char* strategy : {"direct", "aggregate"}) {
    for (const Sending sending : every_sending) {
      SCOPED_TRACE(std::string(strategy) + ", sending " + std::to_string(static_cast<int>(sending)));
      instruments::switch_on();
      Traffic traffic({.strategy = strategy}, 2);
      VniState& sender = traffic.job()[0];
      // All others than those that were stored are announced.
      std::uint64_t sent = 0, stored = 0, uncredited = 0;
      const auto check_uncredited = [&](std::uint64_t n, std::uint64_t bytes) {
        const std::uint64_t now_stored = traffic.job()[2].parts().counters.totals()[Count::buffered];
        uncredited += n - (now_stored - std::exchange(stored, now_stored)) / bytes;
        EXPECT_EQ(sender.parts().counters.totals()[Count::uncredited], uncredited);
        EXPECT_EQ(sender.parts().counters.totals()[Count::sent], sent += n);
      };
      for (int i = 0; i < 60; ++i) traffic.send({.to = 2, .bytes = 2000, .sending = sending}, 1);
      EXPECT_TRUE(sender.any_unsent());
      sender.prepare_to_sleep();
      EXPECT_TRUE(traffic.job().end(0).wanted().empty()) << "the message with the credit wakes it";
      traffic.let_arrive();
      check_uncredited(60, 2000);
      for (int i = 0; i < 40; ++i) traffic.send({.to = 2, .bytes = 1000, .sending = sending}, 2);
      traffic.let_arrive();
      check_uncredited(40, 1000);
      const instruments::Totals totals = sender.parts().counters.totals();
      EXPECT_GT(totals[Count::uncredited], 0U);
      EXPECT_EQ(totals[Count::sent_away], 100U);
      EXPECT_EQ(traffic.job()[2].parts().counters.totals()[Count::received], 100U);
      EXPECT_EQ(traffic.job()[2].parts().counters.totals()[Count::unexpected], 100U);
      receive_many(traffic, 2, 100);
      traffic.finish();
      instruments::switch_off();
    }
  }
}

// Credit comes back for messages that match on arrival.
TEST(Numbers, ReturnTheCreditOfMatchedMessages) {
  instruments::switch_on();
  Traffic traffic({}, 2);
  for (int i = 0; i < 200; ++i) {
    traffic.post({.to = 2, .room = 2000}, 0, 1);
    traffic.send({.to = 2, .bytes = 2000, .mode = i % 2 == 0 ? Mode::synchronous : Mode::standard}, 1);
    traffic.let_arrive();
  }
  EXPECT_EQ(traffic.job()[0].parts().counters.totals()[Count::uncredited], 0U);
  traffic.finish();
  instruments::switch_off();
}

// A message that was announced only for want of credit widens the credit.
TEST(Numbers, WidenTheCreditOfLongEagerMessages) {
  instruments::switch_on();
  Traffic traffic({.eager = 64 * KiB}, 2);
  for (int i = 0; i < 20; ++i) {
    traffic.post({.to = 2, .room = 64 * KiB}, 0, 1);
    traffic.send({.to = 2, .bytes = 60 * KiB}, 1);
    traffic.let_arrive();
  }
  const std::uint64_t uncredited = traffic.job()[0].parts().counters.totals()[Count::uncredited];
  EXPECT_GT(uncredited, 0U);
  EXPECT_LT(uncredited, 20U);
  traffic.finish();
  instruments::switch_off();
}

// The pieces of a long message go over the rail with the fewest in flight; where one refuses them, over the other.
TEST(Numbers, ShareRails) {
  for (const int refused : {-1, 0, 1}) {
    SCOPED_TRACE("refused: rail " + std::to_string(refused));
    Job job({.strategy = "priority", .eager = 16 * KiB, .rails = 2});
    job.network().refused_rail = refused;
    Message message(job, {.to = 2, .bytes = 400 * KiB, .room = 400 * KiB});
    message.start_receive();
    message.start_send();
    (void)job.poll(2);
    for (int i = 0; i < 5; ++i) (void)job.poll(0);
    const auto over = [&](int rail) { return job.network().over[static_cast<std::size_t>(rail)]; };
    const auto ahead = job[0].parts().outgoing.outbox().pieces_ahead();
    for (const int rail : {0, 1}) EXPECT_EQ(over(rail), rail == refused ? 0 : ahead) << "rail " << rail;
    job[0].prepare_to_sleep();
    EXPECT_EQ(job.end(0).wanted(), refused < 0 ? std::vector<int>{} : std::vector{2}) << "more may go over the other";
    ASSERT_TRUE(job.resolve());
    message.check_received();
    job.check_empty();
  }
}

// Two ranks exchange long messages until both ways have been tried, and one was chosen.
TEST(Numbers, TryBothWaysOfCopying) {
  for (const bool at_once : {false, true}) {
    instruments::switch_on();
    Job job;
    const auto bytes = static_cast<std::size_t>(at_once ? 64 : 48) * KiB;
    for (int i = 0; i < 60; ++i) {
      Message there(job, {.from = 0, .to = 1, .bytes = bytes, .room = bytes}, i);
      Message back(job, {.from = 1, .to = 0, .bytes = bytes, .room = bytes}, 100 + i);
      there.start_receive();
      there.start_send();
      if (!at_once) {
        ASSERT_TRUE(job.resolve());
      }
      back.start_send();
      back.start_receive();
      ASSERT_TRUE(job.resolve());
      there.check_received();
      back.check_received();
    }
    const auto wishes = [&](int rank) { return job[rank].transfers().wishes(1 - rank, bytes); };
    EXPECT_NE(wishes(0), (std::array{Wish::none, Wish::none})) << "rank 1 follows rank 0";
    EXPECT_EQ(wishes(1), (std::array{Wish::none, Wish::none}));
    for (const int rank : {0, 1}) {
      const std::uint64_t staged = job[rank].parts().counters.totals()[Count::staged];
      EXPECT_GT(staged, 0U) << "rank " << rank;
      EXPECT_LT(staged, 60U) << "rank " << rank;
    }
    job.check_empty();
    instruments::switch_off();
  }
}

// A peer that is ahead sends many long messages.
TEST(Numbers, StageManyMessagesEarly) {
  Traffic traffic({.oversubscribed = true}, 1);
  for (int i = 0; i < 40; ++i)
    traffic.send({.bytes = i % 2 == 0 ? 24 * KiB : 200 * KiB, .send_run = i % 3 != 0, .sending = Sending::wait}, i % 2);
  EXPECT_EQ(traffic.job()[0].transfers().staged_early(), most_unread);
  traffic.let_arrive();
  EXPECT_EQ(traffic.completed_sends(), most_unread) << "others wait for their receives";
  for (int i = 0; i < 40; ++i) traffic.post({.room = 200 * KiB, .receive_run = i % 5 != 0}, 0, i % 2);
  traffic.finish();
}

// The receive buffer ends inside a chunk of the stage.
TEST(Numbers, CutMessagesThatWereStagedEarly) {
  for (const std::size_t room : {std::size_t{1000}, 100 * KiB + 1000}) {
    Job job({.oversubscribed = true});
    Message message(job, {.bytes = 200 * KiB, .room = room, .send_run = false, .receive_run = false});
    message.start_send();
    EXPECT_EQ(job[0].transfers().staged_early(), 1U);
    message.start_receive();
    ASSERT_TRUE(job.resolve());
    message.check_received();
    job.check_empty();
  }
}

// ---- ends

// A thread waits for both requests: it is told once, by the last.
TEST(Ends, WakeTheirWaiters) {
  for (const int to : {0, 1, 2}) {
    for (const bool blocks : {false, true}) {
      Job job;
      Message message(job, {.to = to, .bytes = 8 * KiB, .room = 8 * KiB, .mode = Mode::synchronous});
      Waiter waiter;
      waiter.expect(2, false);
      message.send().waiter = message.receive().waiter = &waiter;
      message.start_send();
      message.start_receive();
      int waits = 0;
      if (!blocks) {
        ASSERT_TRUE(job.resolve());
      }
      waiter.counter.wait_by([&](std::uint32_t) {
        if (++waits > 1 || !job.resolve()) throw std::runtime_error("the waiter is not told");
      });
      EXPECT_EQ(waits, blocks && to != 0 ? 1 : 0);
      message.check_received();
      EXPECT_EQ(message.send().waiter, nullptr);
    }
  }
}

// Requests of a part of the library, and some that the program has freed.
TEST(Ends, HaveOtherOwners) {
  for (const int to : {0, 1, 2}) {
    for (const std::size_t bytes : {std::size_t{8}, 64 * KiB}) {
      for (const bool freed : {false, true}) {
        Job job;
        Message message(job, {.to = to, .bytes = bytes, .room = bytes, .mode = Mode::synchronous});
        for (Request* const request : {&message.send(), &message.receive()}) {
          if (freed) {
            EXPECT_FALSE(VniState::disown(*request));
          } else {
            request->owner = Owner::library;
          }
        }
        message.start_receive();
        message.start_send();
        ASSERT_TRUE(job.resolve());
        if (!freed) message.check_received();
        EXPECT_EQ(message.send().handle != 0, !freed) << "it is given back when it is done";
        EXPECT_EQ(message.receive().handle != 0, !freed);
        if (!freed) {
          EXPECT_TRUE(VniState::disown(message.send()));
        }
        job.check_empty();
      }
    }
  }
}

// The allocations but for the requests that the thread keeps.
long allocations_but_requests() { return allocations() - cache_of_thread->size; }

// A send that is cancelled after its announcement goes on with a copy of its data, which is freed at its end.
TEST(Ends, FreeTheCopiesOfCancelledSends) {
  const auto cancel_one = [](const char* strategy) {
    Job job({.strategy = strategy});
    Message message(job, {.to = 2, .bytes = 100 * KiB, .room = 100 * KiB});
    message.start_send();
    EXPECT_FALSE(message.cancel_send());
    EXPECT_TRUE(message.sent());
    message.start_receive();
    ASSERT_TRUE(job.resolve());
    message.check_content();
    job.check_empty();
  };
  for (const char* strategy : {"aggregate", "priority"}) {
    cancel_one(strategy);
    const long before = allocations_but_requests();
    cancel_one(strategy);
    EXPECT_EQ(allocations_but_requests(), before);
  }
}

// A job ends in the middle of messages: what is queued, has arrived unexpectedly, or moves is freed.
TEST(Ends, FreeWhatIsUnderWay) {
  const auto end_in_the_middle = [] {
    std::vector<std::unique_ptr<Message>> messages;
    {
      Job job({.oversubscribed = true, .copies = {.staged_from = 0}, .longs = 100 * KiB});
      const auto send = [&](const Shape& shape, int tag = 5) {
        messages.push_back(std::make_unique<Message>(job, shape, tag));
        messages.back()->start_send();
      };
      for (const int to : {0, 1, 2})
        for (const std::size_t bytes : {8 * KiB, std::size_t{8}, std::size_t{500}, 24 * KiB, 60 * KiB, 200 * KiB})
          send({.to = to, .bytes = bytes, .room = bytes});
      for (int i = 0; i < 4; ++i)
        for (const int rank : {0, 1, 2}) (void)job.poll(rank);
      // The data of a message move within a node, and in each direction between nodes.
      send({.bytes = 3000 * KiB, .room = 3000 * KiB}, 6);
      messages.back()->start_receive();
      (void)job.poll(1);
      (void)job.poll(0);
      for (const int to : {0, 2}) {
        send({.from = 2 - to, .to = to, .bytes = 90 * KiB, .room = 90 * KiB, .any_tag = true});
        (void)job.poll(to);
        messages.back()->start_receive();
        (void)job.poll(2 - to);
        job.network().refuses = 1'000'000;
        (void)job.poll(2 - to);
      }
      for (int i = 0; i < 200; ++i) {
        send({.to = 1});
        send({.to = 2});
      }
      // The last entry of a peer that has failed.
      Wakeups wakeups;
      (void)job[1].sweep(Failed({2}), wakeups);
      EXPECT_TRUE(job[0].parts().outgoing.outbox().any());
      EXPECT_TRUE(job[0].transfers().any());
      EXPECT_NE(job[1].probe(job.context(), 0, 5, true), nullptr) << "taken by a matched probe";
      EXPECT_NE(job[2].probe(job.context(), 0, 5, false), nullptr);
    }
    // No rank has these requests any more.
    for (const auto& message : messages) message->send().done = message->receive().done = 1;
  };
  end_in_the_middle();
  const long before = allocations_but_requests();
  end_in_the_middle();
  EXPECT_EQ(allocations_but_requests(), before);
}

// ---- failures of a peer that much waits for

TEST(Failures, EndAllThatWaits) {
  for (const int to : {1, 2}) {
    for (const std::size_t bytes : {std::size_t{8}, 64 * KiB}) {
      Job job({.survives_failures = true});
      job.network().refuses = 1'000'000;
      std::vector<std::unique_ptr<Message>> messages;
      for (int i = 0; i < 200; ++i) {
        messages.push_back(std::make_unique<Message>(job, Shape{.to = to, .bytes = bytes, .room = bytes}, i));
        messages.back()->start_send();
      }
      job.kill(to);
      job.sweep(0, Failed({to}));
      for (const auto& message : messages) {
        ASSERT_TRUE(message->sent());
        EXPECT_TRUE(message->send().error == MPIX_ERR_PROC_FAILED || (to == 1 && bytes == 8)) << message->send().error;
      }
      EXPECT_FALSE(job[0].transfers().any());
    }
  }
}

// The receiver has asked for the data, and the network takes none.
TEST(Failures, EndMessagesWhoseDataWait) {
  for (const char* strategy : {"aggregate", "priority"}) {
    Job job({.survives_failures = true, .strategy = strategy});
    Message message(job, {.to = 2, .bytes = 64 * KiB, .room = 64 * KiB});
    message.start_receive();
    message.start_send();
    (void)job.poll(2);
    job.network().refuses = 1'000'000;
    (void)job.poll(0);
    ASSERT_FALSE(message.sent());
    job[0].prepare_to_sleep();
    EXPECT_EQ(job.end(0).wanted(), std::vector{2}) << "pieces wait for room";
    job.kill(2);
    job.sweep(0, Failed({2}));
    ASSERT_TRUE(message.sent());
    EXPECT_EQ(message.send().error, MPIX_ERR_PROC_FAILED);
    EXPECT_FALSE(job[0].parts().outgoing.outbox().any());
  }
}

// Several transfers wait for a peer that has failed, and one sweep ends them all.
TEST(Failures, EndAllTransfersOfAPeer) {
  Job job({.survives_failures = true});
  std::vector<std::unique_ptr<Message>> messages;
  for (int i = 0; i < 5; ++i) {
    messages.push_back(std::make_unique<Message>(
        job, Shape{.bytes = 256 * KiB, .room = 256 * KiB, .send_run = false, .receive_run = false}, i));
    messages.back()->start_receive();
    messages.back()->start_send();
  }
  (void)job.poll(1);
  EXPECT_EQ(job[1].transfers().count(), 5U);
  job.kill(0);
  job.sweep(1, Failed({0}));
  EXPECT_EQ(job[1].transfers().count(), 0U);
  for (const auto& message : messages) {
    ASSERT_TRUE(message->received());
    EXPECT_EQ(message->receive().error, MPIX_ERR_PROC_FAILED);
  }
}

// A receive with any source is reported while a process has failed, and goes on.
class Pending : public testing::Test {
 protected:
  Pending() : message_(job_, {.from = 0, .to = 1, .any_source = true}) {
    message_.start_receive();
    job_.sweep(1, Failed({2}));
    EXPECT_EQ(receive().done.load(), Completion::reported_pending);
    EXPECT_EQ(receive().error, MPIX_ERR_PROC_FAILED_PENDING);
  }
  Request& receive() { return message_.receive(); }
  bool resolve(bool at_its_end) {
    Wakeups wakeups;
    return job_[1].resolve(receive(), at_its_end, wakeups);
  }
  void deliver() {
    message_.start_send();
    ASSERT_TRUE(job_.resolve());
    EXPECT_FALSE(resolve(false));
    message_.check_received();
  }

  Job job_{{.survives_failures = true}};
  Message message_;
};

TEST_F(Pending, GetItsMessage) { deliver(); }
TEST_F(Pending, GoOnAfterTheReport) {
  EXPECT_TRUE(resolve(false));
  EXPECT_FALSE(message_.received());
  deliver();
}
TEST_F(Pending, GoOnAfterTheAcknowledgement) {
  job_.sweep(1, Failed({}));
  EXPECT_EQ(receive().done.load(), 0U);
  EXPECT_TRUE(resolve(true));
  deliver();
}
TEST_F(Pending, FailAtTheirEnd) {
  EXPECT_FALSE(resolve(true));
  EXPECT_TRUE(message_.received());
  EXPECT_EQ(receive().error, MPIX_ERR_PROC_FAILED);
  EXPECT_EQ(receive().receive.age, 0U);
}
TEST_F(Pending, AreCancelled) {
  EXPECT_TRUE(message_.cancel_receive());
  EXPECT_TRUE(receive().cancelled);
  EXPECT_EQ(receive().error, MPI_SUCCESS);
}
TEST_F(Pending, AreNotReportedTwiceNorWithoutAnOwner) {
  EXPECT_FALSE(VniState::disown(receive()));
  EXPECT_EQ(receive().done.load(), 0U);
  job_.sweep(1, Failed({2}));
  EXPECT_EQ(receive().done.load(), 0U) << "no thread waits for one that was freed";
}

}  // namespace
}  // namespace heddle::message::simulator
