// Neither memory nor room: the channel or the network takes nothing, and an allocation fails at the same time.
#include <gtest/gtest.h>

#include <string>

#include "messaging/message/simulator/job.hpp"
#include "messaging/message/simulator/memory.hpp"
#include "messaging/message/simulator/message.hpp"
#include "messaging/message/simulator/traffic.hpp"

namespace heddle::message::simulator {
namespace {

constexpr std::size_t KiB = 1024;

// The receiver's answer cannot leave and waits in the outbox, for which an allocation fails: the message is received later.
TEST(Shortages, OfRoomForAnAnswer) {
  for (const int to : {1, 2}) {
    for (const std::size_t bytes : {std::size_t{64}, 64 * KiB}) {
      for (const int way : {0, 1, 2, 3}) {
        const bool posted_first = way % 2 == 0;
        const int extra = way / 2;
        for (int n = 0;; ++n) {
          SCOPED_TRACE("to " + std::to_string(to) + ", " + std::to_string(bytes) + " bytes, allocation " +
                       std::to_string(n) + (posted_first ? ", posted first" : ""));
          Traffic back({}, 0);
          Job& job = back.job();
          Message message(job, {.to = to, .bytes = bytes, .room = bytes, .mode = Mode::synchronous});
          message.start_send();
          job.network().refuses = to == 2 ? 1'000'000 : 0;
          // More than the channel takes. Entries of the outbox are allocated in twos.
          for (int i = 0; i < (to == 1 ? 400 : 2) + extra; ++i) back.send({.from = to, .to = 0}, 1);
          bool failed = false;
          const auto receive = [&] {
            fail_allocation(n);
            if (posted_first) {
              (void)job.poll(to);
            } else {
              message.start_receive();
            }
            failed = allocation_has_failed();
            fail_allocation(-1);
          };
          if (posted_first) {
            message.start_receive();
          } else {
            (void)job.poll(to);
          }
          receive();
          job.network().refuses = 0;
          ASSERT_TRUE(job.resolve());
          if (message.received() && message.receive().error == MPI_ERR_NO_MEM) {
            EXPECT_FALSE(posted_first) << "the call that posts a receive reports it";
            Message other(job, {.to = to, .bytes = bytes, .room = bytes});
            other.start_receive();
            ASSERT_TRUE(job.resolve());
            EXPECT_TRUE(message.sent());
            other.check_content();
          } else {
            message.check_received();
          }
          back.finish();
          if (!failed || HasFailure()) break;
        }
      }
    }
  }
}

}  // namespace
}  // namespace heddle::message::simulator
