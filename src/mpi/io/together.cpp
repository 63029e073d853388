// Operations of all members of a file.
#include "mpi/io/operation.hpp"
#include "mpi/io/pending.hpp"
#include "mpi/io/two_phase.hpp"

namespace heddle::io {

Error run_together(Operation& operation, MPI_Status* status) {
  TwoPhase algorithm(operation, nullptr);
  algorithm.flow().run();
  operation.finish();
  return operation.tell(status);
}

namespace {

class Together final : public Pending {
 public:
  Together(std::unique_ptr<Operation> operation, std::shared_ptr<Executor> executor)
      : Pending(std::move(operation)),
        executor_(std::move(executor)),
        algorithm_(this->operation(), executor_.get()),
        flow_(algorithm_.flow()) {}

 private:
  bool advance() override { return flow_.advance(); }

  const std::shared_ptr<Executor> executor_;
  TwoPhase algorithm_;
  Flow flow_;
};

}  // namespace

Error start_together(std::unique_ptr<Operation> operation, MPI_Request* request) {
  std::shared_ptr<Executor> executor = operation->file().open->executor();
  auto pending = std::make_unique<Together>(std::move(operation), std::move(executor));
  Together& together = *pending;
  Pending::attach(std::move(pending), request);
  together.launch();
  return success;
}

}  // namespace heddle::io
