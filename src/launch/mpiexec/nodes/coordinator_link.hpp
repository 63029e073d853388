// The link between an mpiexec that serves one node of a job and the coordinator that has started it: it sends the
// proposals and published data of the ranks here, and receives decisions. One TCP connection, opened with the job's
// secret.
//
// The coordinator counts a node as lost when the connection to it is, so an mpiexec that loses the connection to the
// coordinator ends its ranks at once: ranks reported as gone must be gone (launch/boot/decisions.hpp).
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

// An order of the coordinator.
struct Order {
  enum class Kind {
    signal,   // number: a signal that the user has sent to the job
    end,      // number: exit code; the job ends, and the reason has been printed
    cut_off,  // the connection is lost
  };
  Kind kind;
  int number;
};

class CoordinatorLink {
 public:
  // Connects to the coordinator, and receives the description of the job. Throws std::runtime_error.
  CoordinatorLink();
  CoordinatorLink(const CoordinatorLink&) = delete;
  CoordinatorLink& operator=(const CoordinatorLink&) = delete;

  // Takes over the environment and the working directory of the user's mpiexec. Throws std::runtime_error.
  void enter() const;
  const NodePlan& plan() const { return plan_; }
  NodeMap nodes() const;

  // From here on the segment and its news are ours to write.
  void use(const Segment& segment, boot::News& news);
  void send(const boot::Frame& frame) { link_.send(frame); }
  // The card of this rank of the job has grown.
  void send_card(int rank);
  // The job ends here with this exit code, and shall end everywhere. Once; the coordinator knows its own orders.
  void say_end(int exit_code);
  // The last frame: no rank is left here. `ended_well`: one has ended successfully.
  void finish(int exit_code, bool ended_well);

  // Appends the descriptors to poll, and takes arrived frames.
  void add_to(std::vector<pollfd>& wanted) const;
  std::vector<Order> serve();
  // The time of our next beat, so that the kernel notices a broken connection.
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
