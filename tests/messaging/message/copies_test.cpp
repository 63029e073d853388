// Copies of long messages within a node of which one end does nothing for a while, or which the kernel refuses.
#include <gtest/gtest.h>
#include <mpi-ext.h>

#include <string>
#include <vector>

#include "messaging/message/simulator/job.hpp"
#include "messaging/message/simulator/message.hpp"

namespace heddle::message::simulator {
namespace {

constexpr std::size_t KiB = 1024;
constexpr CopySettings always_staged{.staged_from = 0};
constexpr CopySettings by_kernel{.staged_from = CopySettings::never};
constexpr CopySettings by_receiver{.split_from = CopySettings::never, .staged_from = CopySettings::never};

// One rank alone polls until it has done all that it can.
void poll_alone(Job& job, int rank) {
  int still = 0;
  for (int i = 0; i < 100'000 && still < 100; ++i) still = job.poll(rank) ? 0 : still + 1;
  ASSERT_EQ(still, 100) << "rank " << rank << " never waits";
}

struct Layouts {
  bool send_run, receive_run;
};
constexpr Layouts every_layout[] = {{true, true}, {true, false}, {false, true}, {false, false}};

// The message is longer than the ring, and the receiver has only asked for it: the sender fills the ring. It copies the rest alone if it
// can write to the receiver's buffer.
TEST(Copies, OfASenderAlone) {
  for (const bool oversubscribed : {false, true}) {
    for (const Layouts& layouts : every_layout) {
      SCOPED_TRACE(std::to_string(layouts.send_run) + " " + std::to_string(layouts.receive_run));
      Job job({.oversubscribed = oversubscribed, .copies = always_staged});
      constexpr std::size_t bytes = Stage::longest_ring + 500 * KiB;
      Message message(
          job, {.bytes = bytes, .room = bytes, .send_run = layouts.send_run, .receive_run = layouts.receive_run});
      message.start_send();
      message.start_receive();
      (void)job.poll(1);
      poll_alone(job, 0);
      EXPECT_FALSE(message.sent());
      EXPECT_FALSE(message.received());
      (void)job.poll(1);
      EXPECT_EQ(message.received(), layouts.send_run && layouts.receive_run);
      ASSERT_TRUE(job.resolve());
      message.check_received();
      job.check_empty();
    }
  }
}

// The sender has announced the message, and does nothing more: the receiver copies alone if it can read the sender's data.
TEST(Copies, OfAReceiverAlone) {
  for (const std::size_t bytes : {24 * KiB, 200 * KiB, 3000 * KiB}) {
    for (const bool oversubscribed : {false, true}) {
      for (const Layouts& layouts : every_layout) {
        SCOPED_TRACE(std::to_string(layouts.send_run) + " " + std::to_string(layouts.receive_run));
        Job job({.oversubscribed = oversubscribed, .copies = always_staged});
        Message message(
            job, {.bytes = bytes, .room = bytes, .send_run = layouts.send_run, .receive_run = layouts.receive_run});
        message.start_send();
        message.start_receive();
        poll_alone(job, 1);
        EXPECT_FALSE(message.sent());
        EXPECT_EQ(message.received(), layouts.send_run && layouts.receive_run);
        ASSERT_TRUE(job.resolve());
        message.check_received();
        job.check_empty();
      }
    }
  }
}

// The receiver of one message writes the next one in the other direction to the same stage.
TEST(Copies, UseStagesAgain) {
  for (const bool oversubscribed : {false, true}) {
    Job job({.oversubscribed = oversubscribed, .copies = always_staged});
    for (int i = 0; i < 20; ++i) {
      const std::size_t bytes = (i / 2 % 3 == 0 ? 24 : 200) * KiB;
      Message message(job, {.from = i % 2, .to = 1 - i % 2, .bytes = bytes, .room = bytes});
      message.start_send();
      message.start_receive();
      ASSERT_TRUE(job.resolve());
      message.check_received();
      job.check_empty();
    }
    EXPECT_EQ(job[0].transfers().node_memory() + job[1].transfers().node_memory(),
              Stage::block_of(24 * KiB) + Stage::block_of(200 * KiB));
  }
}

// The sender has finished with its stage, but the receiver has not: a message in the other direction gets another one.
TEST(Copies, LeaveAStageThatIsInUse) {
  constexpr std::size_t bytes = 600 * KiB;
  Job job({.oversubscribed = true, .copies = always_staged});
  Message there(job, {.bytes = bytes, .room = bytes});
  there.start_send();
  there.start_receive();
  (void)job.poll(1);  // copies a chunk alone
  while (job[0].transfers().node_memory() == 0) ASSERT_TRUE(job.poll(0));
  Message back(job, {.from = 1, .to = 0, .bytes = bytes, .room = bytes});
  back.start_send();
  back.start_receive();
  (void)job.poll(0);
  EXPECT_EQ(job[0].transfers().node_memory(), 0U);
  ASSERT_TRUE(job.resolve());
  there.check_received();
  back.check_received();
  job.check_empty();
}

// ---- copies that the kernel refuses

struct Refusal {
  const char* what;
  CopySettings copies;
  bool oversubscribed;
  bool send_run, receive_run;
  std::size_t bytes;
  int first;       // the rank that polls first, alone, once the message has matched
  bool of[ranks];  // whether the receive fails when the kernel refuses copies from or to this rank
};
constexpr Refusal refusals[] = {
    {"read by the receiver", by_receiver, false, true, true, 64 * KiB, 0, {true, false}},
    {"read in parts by the receiver", by_receiver, false, true, false, 64 * KiB, 0, {true, false}},
    {"split, sender first", by_kernel, false, true, true, 256 * KiB, 0, {true, true}},
    {"split, receiver first", by_kernel, false, true, true, 256 * KiB, 1, {true, false}},
    {"staged, sender alone", always_staged, false, true, true, 3000 * KiB, 0, {false, true}},
    {"staged, receiver alone", always_staged, false, true, true, 200 * KiB, 1, {true, false}},
    {"staged early, receiver alone", always_staged, true, true, true, 200 * KiB, 1, {true, false}},
    {"staged", always_staged, false, false, false, 200 * KiB, 0, {false, false}},
};

TEST(Copies, ThatTheKernelRefuses) {
  for (const Refusal& refusal : refusals) {
    for (const bool survives : {false, true}) {
      for (const int refused : {0, 1}) {
        SCOPED_TRACE(std::string(refusal.what) + ", refused: rank " + std::to_string(refused));
        Job job({.oversubscribed = refusal.oversubscribed, .survives_failures = survives, .copies = refusal.copies});
        const auto exchange = [&](int from, int tag) {
          Message message(job,
                          {.from = from,
                           .to = 1 - from,
                           .bytes = refusal.bytes,
                           .room = refusal.bytes,
                           .send_run = refusal.send_run,
                           .receive_run = refusal.receive_run},
                          tag);
          message.start_send();
          message.start_receive();
          (void)job.poll(1 - from);
          if (from == 0) poll_alone(job, refusal.first);
          ASSERT_TRUE(job.resolve());
          ASSERT_TRUE(message.sent());
          ASSERT_TRUE(message.received());
          EXPECT_EQ(message.send().error, MPI_SUCCESS);
          if (tag != 7 || !refusal.of[refused]) return message.check_received();
          EXPECT_EQ(message.receive().error, survives ? MPIX_ERR_PROC_FAILED : MPI_ERR_OTHER);
        };
        // Both ranks have found each other within reach.
        exchange(0, 5);
        exchange(1, 6);
        job.refuse_copies(refused);
        exchange(0, 7);
        job.check_empty();
        if (HasFailure()) return;
      }
    }
  }
}

}  // namespace
}  // namespace heddle::message::simulator
