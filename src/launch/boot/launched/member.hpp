// A rank's end of its link to its node's agent. A thread sleeps on it, to notice when the job ends or the agent is
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

// How a job ends that one of its ranks has left without a word. Whoever notices waits a little first: a launcher that
// notices, too, has then ended us, and has said what there is to say.
class Ending {
 public:
  static constexpr int time_of_launcher = 1000;  // milliseconds in which a launcher ends us, if it does

  virtual ~Ending() = default;
  // Once in a node: a second thread or rank that has something to say is kept from it.
  virtual void say(const char* text) = 0;
  // Asks the launcher to end the job with that exit code, and ends this process if that has not in so many milliseconds.
  [[noreturn]] virtual void end(int code, int milliseconds) = 0;
  // Milliseconds after which a rank that is told of the end ends by itself.
  virtual int time_to_be_ended() const = 0;
};

class Member {
 public:
  // `agent`: the rank of whoever is at the other end.
  Member(Connection link, JobHeader& header, int rank, int agent, Ending& ending);
  void start();

  // Any thread. False: the agent is gone.
  bool send(const Frame& frame);
  // Nothing more comes or goes, for the agent as if this process had ended.
  void shut();
  // Asks for the value of a word, and proposes one if it is not 0. False: there is no answer in time.
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
  const Descriptor socket_;  // of the link, to be shut without the lock
  const int quit_;           // becomes readable by SIGQUIT
  std::atomic<bool> shut_{false};
  std::mutex mutex_;  // of what follows
  Connection link_;
  std::optional<int> asked_;          // the word that a thread asks for: one does, at a time
  std::condition_variable answered_;  // or the next may ask
  std::uint64_t answers_ = 0;
  std::uint64_t value_ = 0;
};

}  // namespace heddle::boot
