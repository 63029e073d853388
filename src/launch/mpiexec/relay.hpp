// The relay between the launcher that has started an mpiexec on each node (-join) and the ranks, which are threads: to
// the launcher each mpiexec is one process of its job, and to its ranks it is a launcher that uses PMI-1
// (launch/boot/pmi/message.hpp). The launcher stores the ranks' keys; a fence is the launcher's once all ranks of this node
// have come to it.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "launch/boot/job.hpp"
#include "launch/boot/launched/connection.hpp"
#include "launch/boot/pmi/message.hpp"
#include "launch/boot/wireup.hpp"

namespace heddle::mpiexec {

class Relay {
 public:
  // For a job of so many ranks, of which each mpiexec starts `each` and the last one the rest. Throws UsageError: no launcher has started us,
  // or not as many as that takes.
  Relay(int ranks, int each);

  bool is_needed() const { return launcher_ != nullptr; }
  int first() const { return first_; }  // of the job's ranks
  int count() const { return static_cast<int>(peers_.size()); }
  int all() const { return all_; }
  // The end that a rank inherits, by its number here.
  int descriptor_of(int rank) const { return peers_[static_cast<std::size_t>(rank)].theirs.get(); }

  // From now on, in a thread. An abort is written into the rank's record. Throws std::system_error.
  void serve(boot::RankRecord* records);
  // Any thread: handles the last requests of a rank that has ended.
  void catch_up(int rank);
  // True if all ranks of the job have been in MPI_Init, so that they answer SIGQUIT.
  bool all_initialized() const { return all_initialized_.load(); }
  // The ranks have ended well.
  void finish();

 private:
  struct Peer {
    boot::Descriptor ours, theirs;
    std::string bytes = {};  // bytes that are no message yet
    bool waits = false;      // in the fence
  };

  void run();
  void read(Peer& peer);
  void answer(Peer& peer, const boot::PmiMessage& request);
  void fence();
  void abort(const Peer& peer, int code);

  const int all_;
  int first_ = 0;
  std::unique_ptr<boot::Wireup> launcher_;
  std::vector<Peer> peers_;
  boot::RankRecord* records_ = nullptr;
  std::atomic<bool> all_initialized_{false};
  std::timed_mutex mutex_;  // of the peers, from serve() on
};

}  // namespace heddle::mpiexec
