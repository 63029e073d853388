#include "messaging/engine/engine.hpp"

#include <cstdio>
#include <exception>
#include <utility>

#include "base/threads/helper.hpp"
#include "launch/rank/rank.hpp"

namespace heddle::engine {

bool Engine::start_helper_or_say(const char* without, std::function<void()> body) {
  try {
    threads::start_helper(std::move(body));
    return true;
  } catch (const std::exception& error) {  // of the system, or there is no memory for it
    const Rank& rank = current_rank();
    std::fprintf(stderr,
                 "heddle: rank %d of %d cannot start a thread (%s): %s\n"
                 "  Raise the limit of threads (ulimit -u, the container's), or start fewer ranks\n",
                 rank.rank_shown(), rank.world_size, error.what(), without);
    return false;
  }
}

}  // namespace heddle::engine
