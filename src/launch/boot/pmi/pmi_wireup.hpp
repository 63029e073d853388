// The wire-up of launchers that speak PMI-1 or PMI-2 over an inherited socket (PMI_FD): Hydra of MPICH and of Intel
// MPI, `srun --mpi=pmi2`, `flux run`. No library is needed.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "launch/boot/pmi/message.hpp"
#include "launch/boot/wireup.hpp"

namespace heddle::boot {

class PmiWireup final : public Wireup {
 public:
  // Null: there is no PMI server at the other end of this descriptor, and `problem` holds the message.
  static std::unique_ptr<Wireup> open(const char* descriptor, Problem& problem);
  ~PmiWireup() override;

  bool put(const std::string& key, const std::string& text, Problem& problem) override;
  bool get(int from, const std::string& key, std::string& text, Problem& problem) override;
  bool fence(Problem& problem) override;
  void finalize() override;
  void abort(int code, const char* text) override;
  bool keeps_abort_code() const override;
  std::string job_name() const override { return space_; }
  std::vector<int> local_ranks() override;

 private:
  explicit PmiWireup(int fd) : fd_(fd) {}

  bool begin(Problem& problem);
  bool begin_one(Problem& problem);
  bool begin_two(Problem& problem);
  // The server's choice among the versions; nothing: it does not answer as a server would.
  std::optional<int> propose(PmiVersion version, Problem& problem);
  // Sends a request and waits for the answer of that name.
  bool ask(const PmiMessage& request, const char* answer, PmiMessage& reply, Problem& problem,
           int seconds = answer_limit);
  bool send(const PmiMessage& message, Problem& problem);
  bool receive(PmiMessage& message, Problem& problem, int seconds);

  std::mutex mutex_;  // a thread may abort while another finalizes
  int fd_;
  PmiVersion version_ = PmiVersion::one;
  std::string space_;  // PMI-1's name of the job's key-value space; of PMI-2 the job's id
  std::string bytes_;  // bytes received that are no message yet
};

}  // namespace heddle::boot
