// Between an mpiexec that serves one node of a job and the coordinator that has started it: what the ranks here propose and publish goes
// there, what is decided comes from there. One TCP connection, opened with the job's secret.
//
// The coordinator counts a node as lost when the connection to it is, so whoever loses the connection to the coordinator ends its ranks at
// once: what is told as gone must be gone (launch/boot/decisions.hpp).
#pragma once

#include <poll.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "launch/boot/launched/connection.hpp"
#include "launch/boot/news.hpp"
#include "launch/mpiexec/nodes/plan.hpp"
#include "launch/mpiexec/output.hpp"
#include "launch/mpiexec/segment.hpp"

namespace heddle::mpiexec {

// What the coordinator wants of us.
struct Order {
  enum class Kind {
    signal,   // number: what the user has sent the job
    end,      // number: exit code; the job ends, and why has been said
    cut_off,  // it is not there any more
  };
  Kind kind;
  int number;
};

class CoordinatorLink {
 public:
  // Finds the coordinator, and hears from it what the job is. Throws std::runtime_error.
  CoordinatorLink();
  CoordinatorLink(const CoordinatorLink&) = delete;
  CoordinatorLink& operator=(const CoordinatorLink&) = delete;

  // Makes the environment and the folder that mpiexec was called in ours. Throws std::runtime_error.
  void enter() const;
  const NodePlan& plan() const { return plan_; }
  NodeMap nodes() const;

  // From here on the segment and its news are ours to write.
  void use(const Segment& segment, boot::News& news);
  void send(const boot::Frame& frame) { link_.send(frame); }
  // There is more in the card of this rank of the job.
  void send_card(int rank);
  // The job ends here with this exit code, and shall end everywhere. Once; what the coordinator has ordered it knows.
  void say_end(int exit_code);
  // The last word: no rank is left here. `ended_well`: one has come to a good end.
  void finish(int exit_code, bool ended_well);

  // Appends what is to be polled, and takes what has come.
  void add_to(std::vector<pollfd>& wanted) const;
  std::vector<Order> serve();
  // When the coordinator is to hear from us again, so that the kernel notices where nothing arrives any more.
  Clock::time_point next_beat() const { return next_beat_; }
  void beat();

 private:
  std::optional<Order> take(const boot::Frame& frame);
  void take_card(const boot::Frame& frame);

  Summons summons_;
  boot::Connection link_;
  NodePlan plan_;
  Segment segment_;
  boot::News* news_ = nullptr;
  std::vector<std::uint32_t> sent_;  // bytes of the card of each rank of the job
  bool told_end_ = false;
  bool cut_off_ = false;
  Clock::time_point next_beat_;
};

}  // namespace heddle::mpiexec
