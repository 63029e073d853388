// The wire-up of launchers that speak PMIx: prterun and Open MPI's mpirun, `srun --mpi=pmix`, jsrun. Through
// libpmix.so.2, version 4.2 or later, which is opened when it is needed.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "launch/boot/pmix/api.hpp"
#include "launch/boot/wireup.hpp"

namespace heddle::boot {

class PmixWireup final : public Wireup {
 public:
  // Null: there is no such library, or no launcher that it finds, and `problem` holds the message.
  static std::unique_ptr<Wireup> open(Problem& problem);

  bool put(const std::string& key, const std::string& text, Problem& problem) override;
  bool get(int from, const std::string& key, std::string& text, Problem& problem) override;
  bool fence(Problem& problem) override;
  void finalize() override;
  void abort(int code, const char* text) override;
  std::vector<ProcessSet> process_sets() override;
  std::string job_name() const override { return self_.job; }
  std::vector<int> local_ranks() override;

 private:
  explicit PmixWireup(const pmix::Functions& functions) : pmix_(functions) {}

  bool begin(Problem& problem);
  // The launcher's value for the whole job; -1: none.
  int number_of_job(const char* key);
  bool check(pmix::Status status, const char* what, Problem& problem) const;
  std::string names_of_sets();
  std::vector<int> members_of(std::string set);

  pmix::Functions pmix_;
  pmix::Process self_{};
  std::mutex mutex_;  // a thread may abort while another finalizes
  bool open_ = false;
};

}  // namespace heddle::boot
