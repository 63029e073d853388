// A rank's end of its link to its node's agent. A thread blocks on it, to notice when the job ends or the agent is
// gone.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>

#include "launch/boot/job.hpp"
#include "launch/boot/launched/connection.hpp"

namespace heddle::boot {

// Ends a job after one of its ranks has gone without a report. A rank that notices waits a little first: a launcher
// that notices, too, ends us by then, with its own report.
class Ending {
 public:
  static constexpr int time_of_launcher = 1000;  // milliseconds in which a launcher ends us, if it does

  virtual ~Ending() = default;
  // Prints a report, once per node: later calls of other threads and ranks print nothing.
  virtual void say(const char* text) = 0;
  // Asks the launcher to end the job with that exit code, and ends this process if the launcher has not within so many
  // milliseconds.
  [[noreturn]] virtual void end(int code, int milliseconds) = 0;
  // Milliseconds after which a rank that is told of the end ends by itself.
  virtual int time_to_be_ended() const = 0;
};

class Member {
 public:
  // `agent`: the rank at the other end.
  Member(Connection link, JobHeader& header, int rank, int agent, Ending& ending);
  void start();

  // Any thread. False: the agent is gone.
  bool send(const Frame& frame);
  // Closes both directions; for the agent this looks like the end of this process.
  void shut();
  // Requests the value of a word, and proposes one if it is not 0. False: no answer in time.
  bool agree(int word, std::uint64_t proposal, std::uint64_t& value, int milliseconds = agree_limit);

 private:
  void run();
  void take_all();
  void take(const Frame& frame);
  void agent_is_gone();

  static constexpr int agree_limit = 30'000;  // milliseconds

  JobHeader& header_;
  int rank_;
  int agent_;
  Ending& ending_;
  const Descriptor socket_;  // the link's socket, to be shut without the lock
  const int quit_;           // readable after SIGQUIT
  std::atomic<bool> shut_{false};
  std::mutex mutex_;  // guards the members below
  Connection link_;
  std::optional<int> asked_;          // the word that a thread requests: one thread at a time
  std::condition_variable answered_;  // also signals that the next thread may request
  std::uint64_t answers_ = 0;
  std::uint64_t value_ = 0;
};

}  // namespace heddle::boot
