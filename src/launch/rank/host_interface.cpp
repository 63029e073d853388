#include "launch/rank/host_interface.hpp"

#include "launch/rank/rank.hpp"

using heddle::Rank;

extern "C" {

[[gnu::visibility("default")]] Rank* MPIX_Heddle_host_make_rank(heddle::HostOpen open) {
  heddle::rank_of_thread = new Rank;
  heddle::rank_of_thread->host_open = open;
  return heddle::rank_of_thread;
}

[[gnu::visibility("default")]] void MPIX_Heddle_host_end_rank() {
  if (heddle::rank_of_thread->job != nullptr) heddle::rank_of_thread->job->end_in_process();
}

[[gnu::visibility("default")]] void MPIX_Heddle_host_enter_rank(Rank* rank) { heddle::rank_of_thread = rank; }
}
