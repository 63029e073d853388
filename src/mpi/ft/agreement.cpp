#include "mpi/ft/agreement.hpp"

#include "objects/object/context.hpp"

namespace heddle::ft {

Agreement::Agreement(OfRank& faults, Comm& comm, Operation operation, int flag)
    : faults_(faults),
      comm_(comm),
      record_(OfRank::record_of(comm)),
      operation_(operation),
      flag_(flag),
      context_(operation == Operation::shrink ? fresh_context(*comm.owner) : 0),
      number_(record_.agreements.fetch_add(1, std::memory_order_relaxed) + 1) {}

std::unique_ptr<Agreement> make_agreement(OfRank& faults, Comm& comm, Agreement::Operation operation, int flag) {
  const bool spans_nodes = OfRank::record_of(comm).spans_nodes;
  return spans_nodes ? make_job_agreement(faults, comm, operation, flag)
                     : make_node_agreement(faults, comm, operation, flag);
}

}  // namespace heddle::ft
