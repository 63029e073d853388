// Every protocol, with every kind of peer, through every order of events up to a bound: two ranks and their networks are played by one thread, so
// an order is a word, and every word is tried.
#include <gtest/gtest.h>
#include <mpi-ext.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "messaging/message/simulator/job.hpp"
#include "messaging/message/simulator/memory.hpp"
#include "messaging/message/simulator/message.hpp"

namespace heddle::message::simulator {
namespace {

// ---- orders

// s: the send begins; r: the receive is posted; S, R: the sender, the receiver polls; others as a test has it.
using Order = std::string;

// All words of these letters.
void for_each_order(Order letters, const std::function<void(const Order&)>& body) {
  std::sort(letters.begin(), letters.end());
  do {
    SCOPED_TRACE("order " + letters);
    body(letters);
  } while (!testing::Test::HasFailure() && std::next_permutation(letters.begin(), letters.end()));
}

// ---- what is tried

struct Case {
  const char* name;
  Setting setting;
  Shape shape;
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.name << ": " << one.shape.text(); }

// By kind of peer, the lengths at which each protocol is taken.
std::vector<Case> cases() {
  constexpr std::size_t KiB = 1024;
  std::vector<Case> all;
  const auto add = [&](const char* name, const Setting& setting, Shape shape,
                       std::initializer_list<std::size_t> lengths) {
    for (const std::size_t bytes : lengths) {
      shape.bytes = shape.room = bytes;
      all.push_back({name, setting, shape});
      Shape strided = shape;
      strided.send_run = false;
      all.push_back({name, setting, strided});
      strided.receive_run = false;
      all.push_back({name, setting, strided});
      strided.send_run = true;
      all.push_back({name, setting, strided});
      Shape more = shape;
      more.room = bytes + 64;
      all.push_back({name, setting, more});
      if (bytes >= 64) {
        more.room = bytes / 2;
        all.push_back({name, setting, more});
        more.room = 0;
        all.push_back({name, setting, more});
      }
      more.room = bytes;
      more.any_source = true;
      all.push_back({name, setting, more});
      more.any_tag = true;
      all.push_back({name, setting, more});
    }
  };
  // By the calls of MPI_Isend and MPI_Irecv.
  const auto add_calls = [&](const char* name, const Setting& setting, Shape shape,
                             std::initializer_list<std::size_t> lengths) {
    shape.receiving = Receiving::announce;
    for (const Sending sending : {Sending::wait, Sending::go_on}) {
      shape.sending = sending;
      for (const std::size_t bytes : lengths) {
        shape.bytes = shape.room = bytes;
        all.push_back({name, setting, shape});
      }
    }
  };
  const auto add_modes = [&](const char* name, const Setting& setting, Shape shape,
                             std::initializer_list<std::size_t> lengths) {
    for (const Mode mode : {Mode::standard, Mode::synchronous}) {
      shape.mode = mode;
      add(name, setting, shape, lengths);
    }
  };
  add_modes("self", {}, {.from = 0, .to = 0}, {0, 64, 64 * KiB});
  add_modes("same_process", {.one_process = true}, {}, {0, 64, 4 * KiB, 8 * KiB, 64 * KiB});
  add_modes("same_node", {}, {}, {0, 64, 8 * KiB, 24 * KiB, 64 * KiB});
  add_modes("node_memory", {}, {.in_node_memory = true}, {24 * KiB, 64 * KiB});
  add("staged", {.copies = {.staged_from = 0}}, {}, {24 * KiB, 300 * KiB});
  add("never_staged", {.copies = {.staged_from = CopySettings::never}}, {}, {24 * KiB, 64 * KiB});
  add("never_split", {.copies = {.split_from = CopySettings::never, .staged_from = CopySettings::never}}, {},
      {64 * KiB});
  add_modes("oversubscribed", {.oversubscribed = true}, {}, {24 * KiB, 64 * KiB, 300 * KiB});
  add_modes("other_node", {}, {.to = 2}, {0, 64, 2032, 2048, 8 * KiB});
  add_modes("reordered", {.reorders = true}, {.to = 2}, {0, 64, 8 * KiB});
  add_modes("direct", {.longs = 4 * KiB}, {.to = 2}, {3 * KiB, 8 * KiB});
  add("counted_pieces", {.strategy = "priority", .eager = 16 * KiB}, {.to = 2}, {64, 200 * KiB});
  add_calls("calls_same_node", {}, {}, {64, 8 * KiB, 24 * KiB});
  add_calls("calls_concurrent", {.claiming = lln::Claiming::concurrent}, {}, {0, 64});
  add_calls("calls_by_flux", {.claiming = lln::Claiming::by_flux}, {}, {0, 64});
  add_calls("calls_other_node", {}, {.to = 2}, {64, 2032, 8 * KiB});
  return all;
}

class Protocols : public testing::TestWithParam<Case> {
 protected:
  const Setting& setting() const { return GetParam().setting; }
  const Shape& shape() const { return GetParam().shape; }

  void step(Job& job, Message& message, char letter) {
    switch (letter) {
      case 's':
        return message.start_send();
      case 'r':
        return message.start_receive();
      case 'S':
        return (void)job.poll(shape().from);
      case 'R':
        return (void)job.poll(shape().to);
      case 'c':
        if (message.send_began()) cancelled_ = message.cancel_send();
        return;
      case 'x':
        if (message.receive_began()) cancelled_ = message.cancel_receive();
        return;
      case 'n':
        job.network().refuses = 2;
        return;
      default:
        FAIL() << letter;
    }
  }

  // One message, in every order of these events in which `second` is not before `first`; check(job, message) at its end.
  void try_every_order(const Order& letters, char first, char second,
                       const std::function<void(Job&, Message&)>& check) {
    for_each_order(letters, [&](const Order& order) {
      if (order.find(second) < order.find(first)) return;
      Job job(setting());
      Message message(job, shape());
      cancelled_ = false;
      for (const char letter : order) step(job, message, letter);
      ASSERT_TRUE(job.resolve());
      check(job, message);
      job.check_empty();
    });
  }

  bool cancelled_ = false;
};

TEST_P(Protocols, DeliverInEveryOrder) {
  try_every_order("srSSRR", 's', 's', [](Job&, Message& message) { message.check_received(); });
}

// The network takes nothing for a while, at every point.
TEST_P(Protocols, WaitForTheNetworkInEveryOrder) {
  if (shape().to != 2) GTEST_SKIP() << "not over a network";
  try_every_order("srnSRS", 's', 's', [](Job&, Message& message) { message.check_received(); });
}

// The memory that ranks share is used up. A message that can move without it does; else both ends learn it, or the send alone if not even its announcement
// could be sent.
TEST_P(Protocols, DoWithoutSharedMemory) {
  if (shape().to == 2 || shape().in_node_memory) GTEST_SKIP() << "needs none, or has its buffers there";
  for (const Order order : {"srSRSR", "rsRSRS"}) {
    SCOPED_TRACE("order " + order);
    Job job(setting());
    for (std::size_t bytes = heap_bytes; bytes >= 4096;)
      if (job.allocate(0, bytes) == node::nowhere) bytes /= 2;
    Message message(job, shape());
    for (const char letter : order) step(job, message, letter);
    ASSERT_TRUE(job.resolve());
    ASSERT_TRUE(message.sent());
    if (message.send().error == MPI_ERR_NO_MEM) {
      EXPECT_TRUE(message.cancel_receive());
    } else if (message.received() && message.receive().error == MPI_ERR_NO_MEM) {
      EXPECT_FALSE(shape().send_run) << "the receiver could have read the data";
    } else {
      message.check_received();
    }
    job.check_empty();
  }
}

// A send that is cancelled has been received as a whole, or not at all; and its wait ends, whatever the receiver does.
TEST_P(Protocols, CancelSendsInEveryOrder) {
  try_every_order("srcSRR", 's', 'c', [&](Job&, Message& message) {
    ASSERT_TRUE(message.sent());
    if (message.send().cancelled) {
      EXPECT_FALSE(message.received()) << "a message that was cancelled has been received";
      EXPECT_TRUE(message.cancel_receive()) << "its receive is not posted any more";
      EXPECT_TRUE(message.received());
    } else {
      EXPECT_FALSE(cancelled_);
      message.check_received();
    }
  });
}

TEST_P(Protocols, CancelReceivesInEveryOrder) {
  try_every_order("srxSRR", 'r', 'x', [&](Job& job, Message& message) {
    ASSERT_TRUE(message.received());
    EXPECT_EQ(message.receive().cancelled, cancelled_);
    if (!cancelled_) return message.check_received();
    // Another receive gets it.
    Message other(job, shape());
    other.start_receive();
    ASSERT_TRUE(job.resolve());
    EXPECT_TRUE(message.sent());
    EXPECT_TRUE(other.received());
    other.check_content();
  });
}

// A matched probe takes the message, and only its own receive gets it.
TEST_P(Protocols, AreTakenByMatchedProbes) {
  Job job(setting());
  Message message(job, shape());
  message.start_send();
  Unexpected* taken = nullptr;
  for (int i = 0; i < 10 && taken == nullptr; ++i) {
    (void)job.poll(shape().to);
    EXPECT_EQ(job[shape().to].probe(job.context(), shape().from, 6, false), nullptr);
    Unexpected* const seen = job[shape().to].probe(job.context(), shape().from, 5, false);
    taken = job[shape().to].probe(job.context(), MPI_ANY_SOURCE, 5, true);
    EXPECT_EQ(taken, seen);
  }
  ASSERT_NE(taken, nullptr);
  EXPECT_EQ(taken->bytes, shape().bytes);
  EXPECT_EQ(job[shape().to].probe(job.context(), shape().from, 5, true), nullptr);
  {
    Wakeups wakeups;
    job[shape().to].start_matched_recv(message.receive(), *taken, wakeups);
  }
  ASSERT_TRUE(job.resolve());
  message.check_received();
  job.check_empty();
}

// Each allocation fails once: an operation ends with an error of memory, or the message comes all the same, and nothing is lost.
TEST_P(Protocols, LoseNothingWithoutMemory) {
  for (const Order order : {"srSRSR", "rsRSRS", "sRrRSR", "sSRrSR"}) {
    SCOPED_TRACE("order " + order);
    for (int n = 0;; ++n) {
      SCOPED_TRACE("allocation " + std::to_string(n));
      Job job(setting());
      Message message(job, shape());
      fail_allocation(n);
      for (const char letter : order) step(job, message, letter);
      const bool ends = job.resolve();
      const bool failed = allocation_has_failed();
      fail_allocation(-1);
      ASSERT_TRUE(ends);
      const int send_error = message.send().error, receive_error = message.receive().error;
      if (message.sent() && send_error == MPI_ERR_NO_MEM) {
        EXPECT_TRUE(message.received() ? receive_error == MPI_ERR_NO_MEM : message.cancel_receive());
      } else if (message.received() && receive_error == MPI_ERR_NO_MEM) {
        Message other(job, shape());
        if (!message.sent()) other.start_receive();
        EXPECT_TRUE(job.resolve());
        EXPECT_TRUE(message.sent()) << "the send waits for ever";
        if (Unexpected* const left = job[shape().to].probe(job.context(), MPI_ANY_SOURCE, MPI_ANY_TAG, true)) {
          Wakeups wakeups;
          job[shape().to].start_matched_recv(other.receive(), *left, wakeups);
        }
        ASSERT_TRUE(job.resolve());  // while the buffers of `other` are there
      } else {
        message.check_received();
      }
      ASSERT_TRUE(job.resolve());
      job.check_empty();
      if (!failed || HasFailure()) break;
    }
  }
}

// A peer fails at every point: whatever waits for it ends.
TEST_P(Protocols, EndWhenTheReceiverFails) {
  if (shape().from == shape().to) GTEST_SKIP() << "a rank that fails waits for nothing";
  Setting surviving = setting();
  surviving.survives_failures = true;
  surviving.longs = 0;  // as networks have it in such jobs
  for_each_order("srfSRR", [&](const Order& order) {
    Job job(surviving);
    Message message(job, shape());
    for (const char letter : order) {
      if (letter == 'f') {
        job.kill(shape().to);
      } else if (letter != 'r' || !job.is_dead(shape().to)) {
        step(job, message, letter);
      }
    }
    const bool was_sent = message.sent();
    job.sweep(shape().from, Failed({shape().to}));
    ASSERT_TRUE(message.sent()) << "the send waits for a rank that has failed";
    EXPECT_FALSE(was_sent && message.send().error != MPI_SUCCESS) << "a send that has ended ends again";
    EXPECT_FALSE(job[shape().from].transfers().has_sends());
    EXPECT_TRUE(message.send().error == MPI_SUCCESS || message.send().error == MPIX_ERR_PROC_FAILED);
    EXPECT_FALSE(job[shape().from].transfers().any());
    EXPECT_TRUE(job[shape().from].parts().outgoing.outbox().is_closed(shape().to));
    Message late(job, shape());
    late.start_send();
    EXPECT_TRUE(late.sent());
    EXPECT_EQ(late.send().error, MPIX_ERR_PROC_FAILED);
  });
}

TEST_P(Protocols, EndWhenTheSenderFails) {
  if (shape().from == shape().to) GTEST_SKIP() << "a rank that fails waits for nothing";
  Setting surviving = setting();
  surviving.survives_failures = true;
  surviving.longs = 0;
  for_each_order("srfSRR", [&](const Order& order) {
    Job job(surviving);
    Message message(job, shape());
    for (const char letter : order) {
      if (letter == 'f') {
        job.kill(shape().from);
      } else if (letter != 's' || !job.is_dead(shape().from)) {
        step(job, message, letter);
      }
    }
    job.sweep(shape().to, Failed({shape().from}));
    EXPECT_FALSE(job[shape().to].transfers().has_sends());
    if (!message.received()) {
      // Posted with any source, it stays, and is reported as pending; at its end it fails.
      ASSERT_TRUE(shape().any_source);
      EXPECT_EQ(message.receive().error, MPIX_ERR_PROC_FAILED_PENDING);
      Wakeups wakeups;
      EXPECT_FALSE(job[shape().to].resolve(message.receive(), true, wakeups));
    }
    ASSERT_TRUE(message.received());
    if (message.receive().error == MPI_SUCCESS || message.receive().error == MPI_ERR_TRUNCATE)
      message.check_content();
    else
      EXPECT_EQ(message.receive().error, MPIX_ERR_PROC_FAILED);
    EXPECT_FALSE(job[shape().to].transfers().any());
    EXPECT_EQ(job[shape().to].probe(job.context(), MPI_ANY_SOURCE, MPI_ANY_TAG, false) != nullptr &&
                  message.receive().error == MPI_SUCCESS,
              false);
  });
}

// The communicator is revoked; each end learns it at any time. No end waits for the other, and what has been received is whole.
TEST_P(Protocols, EndWhenRevokedInEveryOrder) {
  Setting surviving = setting();
  surviving.survives_failures = true;
  surviving.longs = 0;
  for_each_order(shape().from == shape().to ? "srv" : "srvwR", [&](const Order& order) {
    Job job(surviving);
    Message message(job, shape());
    for (const char letter : order) {
      if (letter == 'v' || letter == 'w') {
        Wakeups wakeups;
        (void)job[letter == 'v' ? shape().from : shape().to].sweep(Revoked(), wakeups);
      } else {
        step(job, message, letter);
      }
    }
    // Operations that began since the revocation, or were in progress.
    ASSERT_TRUE(job.resolve());
    for (const int rank : {shape().from, shape().to, shape().from}) job.sweep(rank, Revoked());
    ASSERT_TRUE(message.sent()) << "the send waits";
    ASSERT_TRUE(message.received()) << "the receive waits";
    EXPECT_TRUE(message.send().error == MPI_SUCCESS || message.send().error == MPIX_ERR_REVOKED);
    if (message.receive().error != MPIX_ERR_REVOKED) message.check_content();
    for (const int rank : {shape().from, shape().to}) {
      EXPECT_FALSE(job[rank].parts().outgoing.outbox().any());
      EXPECT_FALSE(job[rank].transfers().any());
    }
    // A message that its sender has withdrawn is dropped, within a node by the next search that finds it.
    const bool is_left = job[shape().to].probe(job.context(), MPI_ANY_SOURCE, MPI_ANY_TAG, false) != nullptr;
    EXPECT_FALSE(is_left && message.send().error == MPIX_ERR_REVOKED);
    if (!is_left) job.check_node_memory();  // a message that was staged early may have been sent, and is never received
  });
}

// A message that no rank of the job sends ends the job.
TEST(Malformed, EndsTheJob) {
  const auto refuses = [](lln::MessageKind kind, const auto& payload, std::size_t bytes, int source = 0) {
    Job job;
    job.end(2).inject(0, kind, &payload, bytes, source);
    try {
      (void)job.poll(2);
    } catch (const JobEnds& why) {
      EXPECT_NE(std::string(why.what()).find("malformed message from rank 0"), std::string::npos) << why.what();
      return true;
    }
    return false;
  };
  using Kind = lln::MessageKind;
  EXPECT_TRUE(refuses(Kind::rts, RemoteRts{100, 0}, sizeof(RemoteRts))) << "no name";
  EXPECT_TRUE(refuses(Kind::rts, RemoteRts{100, 1}, sizeof(RemoteRts) - 1)) << "too short";
  EXPECT_TRUE(refuses(Kind::eager, RemoteFin{1}, 8, 3)) << "no such rank";
  EXPECT_TRUE(refuses(Kind::eager_ack, RemoteAck{0}, sizeof(RemoteAck)));
  EXPECT_TRUE(refuses(Kind::cts, RemoteCts{1, 2, 3, Moving::pieces}, sizeof(RemoteCts))) << "there is no such send";
  EXPECT_TRUE(refuses(Kind::cts, RemoteCts{1, 2, 3, Moving::pieces}, 7));
  EXPECT_TRUE(refuses(Kind::fin, RemoteFin{1}, sizeof(RemoteFin)));
  EXPECT_TRUE(refuses(Kind::fin, RemoteFin{0}, sizeof(RemoteFin)));
  EXPECT_TRUE(refuses(Kind::retract, Retract{0}, sizeof(Retract)));
  EXPECT_TRUE(refuses(Kind::retracted, Retracted{0, 0}, sizeof(Retracted)));
  EXPECT_TRUE(refuses(Kind::retracted, Retracted{7, 1}, sizeof(Retracted)));
  EXPECT_FALSE(refuses(Kind::retracted, Retracted{7, 0}, sizeof(Retracted)))
      << "the message has been received: the send is gone";
  EXPECT_TRUE(refuses(Kind::data, Piece{9, 0, 0, 0}, sizeof(Piece))) << "nothing was asked for";
  EXPECT_TRUE(refuses(Kind::data, Piece{9, 0, 0, 0}, 3));
  EXPECT_TRUE(refuses(Kind::more, More{0, 0, 1}, sizeof(More)));
  EXPECT_TRUE(refuses(Kind::more, More{1, 0, 1}, 5));
  EXPECT_FALSE(refuses(Kind::more, More{1, 0, 1}, sizeof(More))) << "the message may be over";
  EXPECT_FALSE(refuses(Kind::credit, RemoteFin{0}, 0));
}

// Data for a message that the rank itself sends.
TEST(Malformed, IsDataForASender) {
  Job job;
  Message message(job, {.to = 2, .bytes = 8192, .room = 8192});
  message.start_send();
  message.start_receive();
  (void)job.poll(2);
  job.network().refuses = 1'000'000;
  (void)job.poll(0);
  const Piece piece{1, 0, 0, 0};
  job.end(0).inject(2, lln::MessageKind::data, &piece, sizeof piece);
  EXPECT_THROW((void)job.poll(0), JobEnds);
}

// Data that do not fit into the message that the receiver has asked for.
TEST(Malformed, IsDataBeyondTheMessage) {
  struct {
    Piece piece;
    std::byte data[128];
  } message{};
  for (const auto& [position, bytes] : {std::pair{0, 101}, {1, 100}, {100, 1}, {101, 0}}) {
    Job job({.eager = 64});
    Message asked(job, {.to = 2, .bytes = 100, .room = 100});
    asked.start_send();
    asked.start_receive();
    (void)job.poll(2);
    message.piece = {1, static_cast<std::uint64_t>(position), 0, 0};
    job.end(2).inject(0, lln::MessageKind::data, &message, sizeof(Piece) + static_cast<std::size_t>(bytes));
    EXPECT_THROW((void)job.poll(2), JobEnds) << bytes << " bytes at " << position;
  }
}

// An answer from another rank than the one that the message was for.
TEST(Malformed, IsAnAnswerOfAnotherRank) {
  for (const auto kind : {lln::MessageKind::cts, lln::MessageKind::fin}) {
    Job job;
    Message message(job, {.to = 2, .bytes = 8192, .room = 8192, .mode = Mode::synchronous});
    message.start_send();
    const RemoteCts cts{message.send().send.name, 1, 8, Moving::pieces};
    const RemoteFin fin{message.send().send.name};
    const bool is_cts = kind == lln::MessageKind::cts;
    job.end(0).inject(1, kind, is_cts ? static_cast<const void*>(&cts) : &fin, is_cts ? sizeof cts : sizeof fin);
    EXPECT_THROW((void)job.poll(0), JobEnds);
  }
}

INSTANTIATE_TEST_SUITE_P(Every, Protocols, testing::ValuesIn(cases()), [](const testing::TestParamInfo<Case>& info) {
  const Shape& shape = info.param.shape;
  return std::string(info.param.name) + "_" + std::to_string(shape.bytes) + "_in_" + std::to_string(shape.room) +
         (shape.mode == Mode::synchronous ? "_synchronous" : "") + (shape.send_run ? "" : "_strided_send") +
         (shape.receive_run ? "" : "_strided_receive") + (shape.any_source ? "_any_source" : "") +
         (shape.any_tag ? "_any_tag" : "") + (shape.sending == Sending::go_on ? "_isend" : "");
});

}  // namespace
}  // namespace heddle::message::simulator
