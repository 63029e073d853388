// Agreements of members on several nodes, which one process decides for the whole job (launch/boot/decisions.hpp).
#include <algorithm>

#include "messaging/p2p/p2p.hpp"
#include "mpi/ft/agreement.hpp"

namespace heddle::ft {

namespace {

class JobAgreement final : public Agreement {
 public:
  JobAgreement(OfRank& faults, Comm& comm, Operation operation, int flag) : Agreement(faults, comm, operation, flag) {}
  ~JobAgreement() override {
    if (contributed_ && !concluded_) JobAgreement::conclude();
  }

  bool advance() override;
  Outcome decide() const override;
  void conclude() override;

 private:
  const boot::Decision* decision() const {
    const boot::DecidedComm* const comm = boot::find_decided(faults_.decided_comms(), record_.context);
    return comm != nullptr ? boot::find_decision(*comm, number_) : nullptr;
  }
};

// One after the other, with at most as many before it as decisions are kept: then no member needs the decision whose
// place it takes.
bool JobAgreement::advance() {
  if (!contributed_) {
    if (record_.contributed.load(std::memory_order_acquire) != number_ - 1 ||
        number_ - record_.concluded.load(std::memory_order_acquire) > boot::decisions_kept)
      return false;
    const boot::Contribution mine{.operation = operation_,
                                  .flag = flag_,
                                  .acknowledged = record_.acknowledged.load(std::memory_order_acquire),
                                  .context = context_};
    faults_.propose(boot::proposal_to_agree(faults_.proposer(record_), number_, mine));
    contributed_ = true;
    record_.contributed.store(number_, std::memory_order_release);
    p2p::notify(rank(), rank().world_rank);  // for another thread it may be its turn
  }
  return record_.concluded.load(std::memory_order_acquire) == number_ - 1 && decision() != nullptr;
}

void JobAgreement::conclude() {
  concluded_ = true;
  record_.concluded.store(number_, std::memory_order_release);
  p2p::notify(rank(), rank().world_rank);
}

Agreement::Outcome JobAgreement::decide() const {
  const boot::Decision& decided = *decision();
  Outcome outcome{.flag = decided.flag.load(std::memory_order_relaxed), .survivors = {}};
  const boot::Verdict verdict = decided.verdict.load(std::memory_order_relaxed);
  if (verdict == boot::Verdict::mixed) outcome.error = MPI_ERR_OTHER;
  if (verdict == boot::Verdict::failed) outcome.error = MPIX_ERR_PROC_FAILED;
  if (operation_ == Operation::agree || verdict == boot::Verdict::mixed) return outcome;
  std::vector<int> failed(decided.failures.load(std::memory_order_relaxed));
  for (std::uint32_t i = 0; i < failed.size(); ++i) failed[i] = rank().job->failed(i);
  std::sort(failed.begin(), failed.end());
  for (const int member : record_.members)
    if (!std::binary_search(failed.begin(), failed.end(), member)) outcome.survivors.push_back(member);
  outcome.context = decided.context.load(std::memory_order_relaxed);
  return outcome;
}

}  // namespace

std::unique_ptr<Agreement> make_job_agreement(OfRank& faults, Comm& comm, Agreement::Operation operation, int flag) {
  return std::make_unique<JobAgreement>(faults, comm, operation, flag);
}

}  // namespace heddle::ft
