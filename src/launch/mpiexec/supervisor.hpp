// Watches over a job from its start to its end: output, input, signals, deaths.
//
// One thread, one poll loop. The job ends in one of these ways, and in each of them every process that it started is
// gone before mpiexec is:
//   - all ranks end well;
//   - a rank dies or fails: the others get SIGTERM, after half a second SIGKILL; unless the job goes on without it
//     (-with-ft), and then the others are notified;
//   - the user interrupts: the ranks get that signal, SIGKILL after a second, or at the second Ctrl-C;
//   - the time is over: as if a rank had failed.
// The children of a rank belong to its process group and are signalled with it; a process that left the group is reaped
// by us once its parent is gone (we are a subreaper) and is found among our children.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "launch/mpiexec/failures.hpp"
#include "launch/mpiexec/foreign_mpi.hpp"
#include "launch/mpiexec/input.hpp"
#include "launch/mpiexec/listener.hpp"
#include "launch/mpiexec/options.hpp"
#include "launch/mpiexec/output.hpp"
#include "launch/mpiexec/output_files.hpp"
#include "launch/mpiexec/segment.hpp"

struct pollfd;

namespace heddle::mpiexec {

class Relay;

class Supervisor {
 public:
  // `coordinator`: the one that has started us for one node of a job; null: the job is ours alone.
  Supervisor(const Options& options, const Segment& segment, CoordinatorLink* coordinator);

  // The arguments for starting a rank: the descriptors that become its 0, 1 and 2, and the state of signals that it
  // gets back.
  struct Ends {
    int in, out, err;
  };
  Ends make_ends(int rank);
  const sigset_t& rank_mask() const { return rank_mask_; }
  const sigset_t& rank_defaults() const { return rank_defaults_; }

  // So many more ranks; makes room for the data of each.
  void expect(int ranks);
  // For ranks that were to be started with others: it ends and is forgotten.
  void withdraw(int rank);
  bool is_running() const { return phase_ == Phase::running; }
  int living() const;
  // Ranks join the job of another launcher; it gets the end of a rank first.
  void use(Relay& relay) { relay_ = &relay; }
  // From here on ranks can send requests, if there can be a socket; without one they get an error.
  void listen(Answerer& answerer);

  void started(int rank, pid_t pid, const std::string& program, const Ends& ends);
  void start_failed(const std::string& sentence, int exit_code);  // ends the ranks that were started

  // Until the job has ended. Returns mpiexec's exit code.
  int run();

 private:
  struct Child {
    pid_t pid = -1;  // of the rank's process, which may have other ranks for threads
    bool alive = false;
    bool withdrawn = false;
    bool lost = false;    // the job goes on without it, and that has been reported
    std::string program;  // for messages
  };
  struct End {
    int rank;
    int status;
    bool is_own;  // of the rank itself, not of its process
  };
  enum class Phase { running, ending, killing };

  // The loop's steps.
  void wait_for_something();
  int milliseconds_to_next_deadline() const;
  void handle_deadlines();
  bool finished() const;

  // Signals and deaths.
  void read_signals();
  void handle_signal(int signal);
  void interrupt(int signal);
  void obey(const Order& order);
  void suspend();
  void time_over();
  // Ranks that end (rank_ends.cpp).
  void reap();
  void rank_ended(const End& end);
  void look_at_records();
  void look_for_missing_ranks();
  void look_for_foreign_mpi();
  bool refuse_foreign_mpi(int rank, const char* done);
  void fail(int rank, int exit_code, const std::string& subject, const std::string& how);
  void lose(int rank, int exit_code, const std::string& subject, const std::string& how);
  std::vector<int> ranks_to_lose(int rank) const;
  void tell_of_failures();

  // Ending.
  void end_job();  // after a failure
  void end_job(int signal, std::chrono::milliseconds grace);
  void kill_job();
  void signal_job(int signal);
  int rank_of(pid_t pid) const;
  int known_ranks() const { return static_cast<int>(children_.size()); }
  std::string where_threads_are() const;

  // Output.
  void read_rank(int rank);
  void drain_outputs();
  void output_lost(const std::string& where, int error);
  void flush_idle_partials();
  void close_orphaned_streams();
  void say(const std::string& sentence);
  void print(std::string text);
  static std::string ranks_text(int n);
  std::string who(int rank) const;
  std::string shared_process(int rank) const;
  std::string who_ended_process(const End& end) const;
  std::string ending_others(int rank) const;

  const Options& options_;
  const Segment segment_;
  std::vector<Child> children_;
  std::vector<Stream> streams_;  // of rank r: 2r its output, 2r + 1 its errors
  Sink out_, err_own_;
  Sink& err_;  // out_ if both are the same file, so that lines are not torn there either
  OutputFileSet files_;
  Input input_;
  std::optional<Listener> listener_;
  CoordinatorLink* const coordinator_;
  Relay* relay_ = nullptr;            // of ranks that join the job of another launcher
  std::optional<Failures> failures_;  // of a job that goes on without ranks that fail
  sigset_t rank_mask_, rank_defaults_;
  int signals_ = -1;  // signalfd
  int null_ = -1;     // /dev/null; -1: not needed yet

  Phase phase_ = Phase::running;
  int exit_code_ = 0;
  int lost_code_ = 0;         // of the first rank without which the job went on
  bool ended_well_ = false;   // a rank has
  int died_along_ = 0;        // ranks that ended just now because they were threads of a rank's process
  bool decided_ = false;      // exit_code_ is: the first failure counts
  bool output_lost_ = false;  // and that has been reported
  bool no_children_ = false;  // nothing of the job is left
  Clock::time_point kill_at_ = Clock::time_point::max();
  Clock::time_point give_up_at_ = Clock::time_point::max();
  Clock::time_point time_over_at_ = Clock::time_point::max();
  Clock::time_point check_again_at_ = Clock::time_point::max();
  Clock::time_point tell_at_ = Clock::time_point::max();
  Clock::time_point look_for_foreign_at_ = Clock::time_point::max();
  const Clock::time_point begun_ = Clock::now();
  int foreign_rank_ = -1;  // that has initialized another MPI
  ForeignMpi foreign_;
};

}  // namespace heddle::mpiexec
