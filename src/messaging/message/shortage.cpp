#include "messaging/message/shortage.hpp"

#include <mpi.h>
#include <sched.h>

#include <cstdio>

#include "base/platform/native.hpp"
#include "launch/boot/join.hpp"

namespace heddle::message {

void Shortage::note(std::uint32_t taken) {
  constexpr std::int64_t one_shortage = 1'000'000'000;  // ns; failures less than this apart belong to one shortage
  // Longer than an operation of the library waits for memory itself (base/progress/shortage.hpp): the error of such an operation says
  // more.
  constexpr std::int64_t patience = 15 * one_shortage;
  const std::int64_t now = platform::Native::now();
  const std::int64_t last = last_.exchange(now, std::memory_order_relaxed);
  if (taken_.exchange(taken, std::memory_order_relaxed) != taken || now - last > one_shortage)
    since_.store(now, std::memory_order_relaxed);
  if (now - since_.load(std::memory_order_relaxed) < patience) {
    sched_yield();  // another thread may free memory
    return;
  }
  const int rank = context_.job != nullptr ? context_.job->rank_in_world(context_.world_rank) : context_.world_rank;
  char text[300];
  std::snprintf(text, sizeof text,
                "rank %d of %d has had no memory for what others have sent to it for %d seconds\n"
                "  Post receives before their messages come, start fewer ranks, or raise the limit (ulimit -v, the "
                "container's)\n",
                rank, context_.ranks, static_cast<int>(patience / one_shortage));
  boot::abort(context_.job, MPI_ERR_NO_MEM, text);
}

}  // namespace heddle::message
