// The wire-up of launchers that speak PMI-1 or PMI-2 over an inherited socket (PMI_FD): Hydra of MPICH and of Intel
// MPI, `srun --mpi=pmi2`, `flux run`. No library is needed.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "base/result.hpp"
#include "launch/boot/pmi/message.hpp"
#include "launch/boot/wireup.hpp"

namespace heddle::boot {

class PmiWireup final : public Wireup {
 public:
  // A failure: there is no PMI server at the other end of this descriptor.
  static Result<std::unique_ptr<Wireup>> open(const char* descriptor);
  ~PmiWireup() override;

  Result<void> put(const std::string& key, const std::string& text) override;
  Result<std::string> get(int from, const std::string& key) override;
  Result<void> fence() override;
  void finalize() override;
  void abort(int code, const char* text) override;
  bool keeps_abort_code() const override;
  std::string job_name() const override { return space_; }
  std::vector<int> local_ranks() override;

 private:
  explicit PmiWireup(int fd) : fd_(fd) {}

  Result<void> begin();
  Result<void> begin_one();
  Result<void> begin_two();
  // The server's choice among the versions; 0: neither.
  Result<int> propose(PmiVersion version);
  // Sends a request and waits for the answer of that name.
  Result<PmiMessage> ask(const PmiMessage& request, const char* name, int seconds = answer_limit);
  Result<void> send(const PmiMessage& message);
  Result<PmiMessage> receive(int seconds);

  std::mutex mutex_;  // a thread may abort while another finalizes
  int fd_;
  PmiVersion version_ = PmiVersion::one;
  std::string space_;  // PMI-1's name of the job's key-value space; of PMI-2 the job's id
  std::string bytes_;  // bytes received that are no message yet
};

}  // namespace heddle::boot
