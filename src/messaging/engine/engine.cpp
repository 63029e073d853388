#include "messaging/engine/engine.hpp"

#include <cstdio>
#include <exception>
#include <utility>

#include "base/threads/library_thread.hpp"
#include "launch/rank/rank.hpp"

namespace heddle::engine {

bool Engine::start_or_report(const char* without, std::function<void()> body) {
  try {
    threads::start_library_thread(std::move(body));
    return true;
  } catch (const std::exception& error) {  // the system has no thread left, or there is no memory for it
    const Rank& rank = current_rank();
    std::fprintf(stderr,
                 "heddle: rank %d of %d cannot start a thread (%s): %s\n"
                 "  Raise the limit of threads (ulimit -u, the container's), or start fewer ranks\n",
                 rank.rank_shown(), rank.world_size, error.what(), without);
    return false;
  }
}

}  // namespace heddle::engine
