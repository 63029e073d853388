// Starts a job on several nodes that survives failed ranks and nodes: an mpiexec on each node, which starts the ranks
// there and watches over them. It runs no ranks: it receives the frames of all of them, decides agreements
// (launch/boot/decisions.hpp), passes on published data, and merges their output.
//
// A node is lost when the connection to its mpiexec is. That one ends its ranks when it ends (the kernel does) or when
// it loses the connection itself, so ranks reported as gone are gone.
#pragma once

#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <array>
#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "launch/boot/decisions.hpp"
#include "launch/boot/job.hpp"
#include "launch/boot/launched/connection.hpp"
#include "launch/mpiexec/nodes/plan.hpp"
#include "launch/mpiexec/options.hpp"
#include "launch/mpiexec/output.hpp"

namespace heddle::mpiexec {

class Coordinator {
 public:
  // `arguments` are those that `options` were made of. Throws UsageError, std::runtime_error.
  Coordinator(const Options& options, std::vector<std::string> arguments);
  ~Coordinator();
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;

  // Until the job has ended. Returns mpiexec's exit code.
  int run();

 private:
  struct Node {
    std::string host;
    int first;  // of its ranks
    int ranks;
    std::vector<std::string> words;  // the command that starts its mpiexec
    pid_t shell = -1;                // the process that was started with it; -1: it has ended
    int input = -1;                  // of it; -1: closed
    std::string unsent{};            // bytes that its input has not taken
    std::array<Stream, 2> streams{};
    boot::Connection link{};
    bool has_come = false;
    bool has_finished = false;
    bool is_lost = false;
    std::optional<Clock::time_point> lost_at{};  // its ranks are reported as gone then
    int exit_code = 0;                           // of its part
    bool ended_well = false;
  };
  // A connection that may be a node's mpiexec.
  struct Guest {
    boot::Connection link;
    std::uint64_t nonce;
    Clock::time_point since;
    bool is_known = false;
  };

  // Start.
  void start(Node& node);
  void hear_guests();
  void hear_guest(Guest& guest);
  void begin_job();

  // A connection that may be a node's mpiexec.
  void wait_for_something();
  int milliseconds_to_next_deadline() const;
  void handle_deadlines();
  bool finished() const;

  // Serves frames of nodes.
  void serve(Node& node);
  void take(Node& node, const boot::Frame& frame);
  void take_agreement(const boot::Frame& frame);
  void look_for_missing_ranks();
  void tell(const boot::Frame& news);
  void node_is_gone(Node& node);
  void tell_of_lost(Node& node);
  static bool is_of(const Node& node, int rank) { return rank >= node.first && rank < node.first + node.ranks; }
  bool owes(const Node& node) const { return !node.has_finished && !node.is_lost; }

  // Signals and ends.
  void read_signals();
  void reap();
  void interrupt(int signal);
  void time_over();
  void end_job(int exit_code);
  void kill_shells();
  void kill_orphans();
  void give_up(const std::string& sentence, int exit_code);
  int exit_code() const;
  int living() const;

  // Input and output.
  void pass_on_input(Node& node);
  void read_input();
  void drain_outputs();
  void close_orphaned_streams();
  bool wants_input() const;
  void say(const std::string& sentence);

  const Options& options_;
  const std::vector<std::string> arguments_;
  std::string directory_;  // our working directory
  lln::Secret secret_;
  std::vector<Node> nodes_;
  std::vector<Guest> guests_;
  boot::Descriptor listener_;
  int port_ = 0;
  bool has_begun_ = false;
  boot::Decisions decisions_;
  std::array<std::uint64_t, boot::agreed_words> agreed_{};
  std::set<int> gone_;     // ranks
  std::set<int> missing_;  // ranks that have ended without MPI_Init
  int initialized_ = -1;   // a rank that has called it

  Sink out_, err_own_;
  Sink& err_;
  Node* reader_ = nullptr;  // of our standard input
  int signals_ = -1;
  bool no_children_ = false;
  sigset_t old_mask_{};
  rlimit open_files_;
  bool is_ending_ = false;
  std::optional<int> decided_;  // exit code
  Clock::time_point next_beat_;
  Clock::time_point come_by_;
  Clock::time_point time_over_at_ = Clock::time_point::max();
  Clock::time_point kill_at_ = Clock::time_point::max();
  Clock::time_point give_up_at_ = Clock::time_point::max();
};

}  // namespace heddle::mpiexec
