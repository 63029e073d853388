// While this rank waits in MPI_Init for the other ranks of its job, a thread ends the job if a rank of this node has
// ended without MPI_Init, reports missing ranks after some seconds, and answers SIGQUIT (quit_signal.hpp).
//
// There is no job yet that lists the ranks present, so each rank takes a local name that follows from the launcher's
// name of the job. The lowest rank present on a node writes the reports.
#pragma once

#include <string>
#include <thread>
#include <vector>

#include "launch/boot/launched/connection.hpp"
#include "launch/boot/wireup.hpp"

namespace heddle::boot {

class StartWatch {
 public:
  // `local`: the ranks of this node; empty: unknown to the launcher.
  StartWatch(Wireup& wireup, std::vector<int> local);
  ~StartWatch();
  StartWatch(const StartWatch&) = delete;
  StartWatch& operator=(const StartWatch&) = delete;

 private:
  void run();
  bool has_come(int rank) const;
  std::vector<int> missing() const;
  // True if a lower rank of this node is present, and reports.
  bool is_left_to_lower_rank() const;
  void pass_on_quit() const;
  std::string waits(std::int64_t milliseconds) const;
  [[noreturn]] void end(const std::vector<int>& gone);

  Wireup& wireup_;
  std::vector<int> local_;
  Descriptor name_;  // held by this rank; a datagram: a rank of this node has got SIGQUIT
  Descriptor stop_;
  int quit_;
  std::thread thread_;
};

}  // namespace heddle::boot
