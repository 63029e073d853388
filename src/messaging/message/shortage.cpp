// No memory for what has arrived.
#include <sched.h>

#include <atomic>
#include <cstdio>

#include "launch/boot/join.hpp"
#include "launch/rank/rank.hpp"
#include "messaging/message/core.hpp"

namespace heddle::message {

void Core::note_shortage() {
  constexpr std::int64_t one_shortage = 1'000'000'000;  // ns from one failure to the next
  // Longer than an operation of ours tries that waits for the same (base/progress/shortage.hpp): its error says more.
  constexpr std::int64_t patience = 15 * one_shortage;
  const std::int64_t now = platform::Native::now();
  const std::uint32_t taken = route_.taken();
  const std::int64_t last = shortage_.last.exchange(now, std::memory_order_relaxed);
  if (shortage_.taken.exchange(taken, std::memory_order_relaxed) != taken || now - last > one_shortage)
    shortage_.since.store(now, std::memory_order_relaxed);
  if (now - shortage_.since.load(std::memory_order_relaxed) < patience) {
    sched_yield();  // somebody else may free some
    return;
  }
  char text[300];
  std::snprintf(text, sizeof text,
                "rank %d of %d has had no memory for what others have sent to it for %d seconds\n"
                "  Post receives before their messages come, start fewer ranks, or raise the limit (ulimit -v, the "
                "container's)\n",
                rank_.rank_shown(), rank_.world_size, static_cast<int>(patience / one_shortage));
  boot::abort(rank_.job.get(), MPI_ERR_NO_MEM, text);
}

}  // namespace heddle::message
