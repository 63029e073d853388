// Agreements of members on one node, by the memory that they share (base/sync/agreement.hpp).
#include <algorithm>
#include <limits>
#include <new>

#include "mpi/ft/agreement.hpp"
#include "objects/object/context.hpp"

namespace heddle::ft {

namespace {

SharedComm* shared_of(Comm& comm) {
  const Record& record = OfRank::record_of(comm);
  SharedComm* const shared = find_or_make_shared(*comm.owner, record.context, record.group);
  if (shared == nullptr) throw std::bad_alloc();
  return shared;
}

class NodeAgreement final : public Agreement {
 public:
  NodeAgreement(OfRank& faults, Comm& comm, Operation operation, int flag)
      : NodeAgreement(shared_of(comm), faults, comm, operation, flag) {}
  ~NodeAgreement() override {
    if (contributed_ && !concluded_) NodeAgreement::conclude();
  }

  bool advance() override;
  Outcome decide() const override;
  void conclude() override;

 private:
  struct Slots {
    SharedComm* shared;
    std::uint32_t size() const { return shared->members; }
    auto& operator[](std::uint32_t m) const { return shared->member(m).agreements; }
  };

  // The memory first: nothing has happened if there is none.
  NodeAgreement(SharedComm* shared, OfRank& faults, Comm& comm, Operation operation, int flag)
      : Agreement(faults, comm, operation, flag),
        agreement_(Slots{shared}),
        mine_{.operation = operation,
              .flag = flag,
              .failures = faults.failures(),
              .acknowledged = record_.acknowledged.load(std::memory_order_acquire),
              .context = context_},
        me_(static_cast<std::uint32_t>(comm.rank)) {}
  bool is_gone(std::uint32_t m) const { return faults_.is_gone(record_.group.world_rank(static_cast<int>(m))); }

  sync::Agreement<platform::Native, Slots> agreement_;
  const Contribution mine_;
  const std::uint32_t me_;
};

bool NodeAgreement::advance() {
  const auto gone = [this](std::uint32_t m) { return is_gone(m); };
  if (!contributed_) {
    if (!agreement_.has_contributed(me_, number_ - 1) || !agreement_.has_room(number_, gone)) return false;
    agreement_.contribute(me_, number_, &mine_, sizeof mine_);
    contributed_ = true;
    faults_.notify(record_.group);
  }
  return agreement_.concluded(me_) == number_ - 1 && agreement_.is_over(number_, gone);
}

void NodeAgreement::conclude() {
  concluded_ = true;
  agreement_.conclude(me_, number_);
  faults_.notify(record_.group);  // a member may wait for the place, or for its turn
}

Agreement::Outcome NodeAgreement::decide() const {
  Outcome outcome{.flag = -1, .survivors = {}};
  std::vector<bool> takes_part(static_cast<std::size_t>(record_.group.size));
  std::vector<Contribution> contributions(takes_part.size());
  std::uint32_t failures = 0, acknowledged = std::numeric_limits<std::uint32_t>::max();
  for (std::uint32_t m = 0; m < takes_part.size(); ++m) {
    takes_part[m] = agreement_.has_contributed(m, number_);
    if (!takes_part[m]) continue;
    Contribution& one = contributions[m];
    agreement_.read(m, number_, &one, sizeof one);
    if (one.operation != mine_.operation) outcome.error = MPI_ERR_OTHER;
    outcome.flag &= one.flag;
    failures = std::max(failures, one.failures);
    acknowledged = std::min(acknowledged, one.acknowledged);
  }
  if (outcome.error != MPI_SUCCESS) return outcome;

  // In the order of failures: a member without a contribution has failed.
  const RankFinder find(record_.group);
  std::uint32_t position = 0;
  for (std::uint32_t i = 0; i < faults_.failures(); ++i) {
    const int m = find(comm_.owner->job->failed(i));
    if (m == MPI_UNDEFINED) continue;
    if (!takes_part[static_cast<std::size_t>(m)] && position >= acknowledged && mine_.operation == Operation::agree)
      outcome.error = MPIX_ERR_PROC_FAILED;
    if (i < failures)
      takes_part[static_cast<std::size_t>(m)] = false;  // a shrink leaves out members that were known to have failed
    ++position;
  }
  if (mine_.operation == Operation::agree) return outcome;
  for (std::size_t m = 0; m < takes_part.size(); ++m) {
    if (!takes_part[m]) continue;
    if (outcome.survivors.empty()) outcome.context = contributions[m].context;
    outcome.survivors.push_back(record_.group.world_rank(static_cast<int>(m)));
  }
  return outcome;
}

}  // namespace

std::unique_ptr<Agreement> make_node_agreement(OfRank& faults, Comm& comm, Agreement::Operation operation, int flag) {
  return std::make_unique<NodeAgreement>(faults, comm, operation, flag);
}

}  // namespace heddle::ft
