// The wire-up of launchers that speak PMIx: prterun and Open MPI's mpirun, `srun --mpi=pmix`, jsrun. Through
// libpmix.so.2, version 4.2 or later, which is opened when it is needed.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "launch/boot/pmix/api.hpp"
#include "launch/boot/wireup.hpp"

namespace heddle::boot {

class PmixWireup final : public Wireup {
 public:
  // A failure: there is no such library, or no launcher that it finds.
  static Result<std::unique_ptr<Wireup>> open();

  Result<void> put(const std::string& key, const std::string& text) override;
  Result<std::string> get(int from, const std::string& key) override;
  Result<void> fence() override;
  void finalize() override;
  void abort(int code, const char* text) override;
  std::vector<ProcessSet> process_sets() override;
  std::string job_name() const override { return self_.job; }
  std::vector<int> local_ranks() override;

 private:
  explicit PmixWireup(const pmix::Functions& functions) : pmix_(functions) {}

  Result<void> begin();
  // The launcher's value for the whole job; -1: none.
  int number_of_job(const char* key);
  Result<void> check(pmix::Status status, const char* what) const;
  std::string names_of_sets();
  std::vector<int> members_of(std::string set);

  pmix::Functions pmix_;
  pmix::Process self_{};
  std::mutex mutex_;  // a thread may abort while another finalizes
  bool open_ = false;
};

}  // namespace heddle::boot
