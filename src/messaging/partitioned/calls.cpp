// MPI_Psend_init, MPI_Precv_init, MPI_Pready and its variants, MPI_Parrived (MPI 5.0, section 4.2).
#include "launch/rank/rank.hpp"
#include "messaging/p2p/p2p.hpp"
#include "messaging/partitioned/receiver.hpp"
#include "messaging/partitioned/sender.hpp"
#include "objects/binding/impl.hpp"
#include "objects/object/faults.hpp"
#include "objects/object/resolve.hpp"

namespace heddle::mpi {

using partitioned::Operation;
using partitioned::Receiver;
using partitioned::Sender;

namespace {

Error check_partition(const Operation& operation, const char* argument, int partition) {
  if (partition >= 0 && partition < operation.partitions()) return success;
  return fail(MPI_ERR_ARG, "%s = %d is not a partition of the request (0..%d)", argument, partition,
              operation.partitions() - 1);
}

// The sender of a request that is started.
Error sender_of(const Request& request, Sender*& sender) {
  if (request.type == nullptr || request.type != &Sender::type)
    return fail(MPI_ERR_REQUEST, "the request is not a partitioned send");
  if (!request.active) return fail(MPI_ERR_REQUEST, "the partitioned send has not been started");
  sender = static_cast<Sender*>(request.state);
  return success;
}

}  // namespace

Error Psend_init(const void* buf, int partitions, MPI_Count count, const Datatype& datatype, int dest, int tag,
                 Comm& comm, const Info*, MPI_Request* request) {
  if (Error e = check_survivable(*comm.owner, "partitioned communication")) return e;
  const partitioned::Arguments arguments{const_cast<void*>(buf), partitions, count, datatype, dest, tag, comm};
  *request = handle_of<MPI_Request>(Operation::make<Sender>(arguments));
  return success;
}

Error Precv_init(void* buf, int partitions, MPI_Count count, const Datatype& datatype, int source, int tag, Comm& comm,
                 const Info*, MPI_Request* request) {
  if (Error e = check_survivable(*comm.owner, "partitioned communication")) return e;
  *request = handle_of<MPI_Request>(Operation::make<Receiver>({buf, partitions, count, datatype, source, tag, comm}));
  return success;
}

Error Pready(int partition, Request& request) {
  Sender* sender = nullptr;
  if (Error e = sender_of(request, sender)) return e;
  if (Error e = check_partition(*sender, "partition", partition)) return e;
  return sender->ready(partition, partition);
}

Error Pready_range(int partition_low, int partition_high, Request& request) {
  Sender* sender = nullptr;
  if (Error e = sender_of(request, sender)) return e;
  if (Error e = check_partition(*sender, "partition_low", partition_low)) return e;
  if (Error e = check_partition(*sender, "partition_high", partition_high)) return e;
  return sender->ready(partition_low, partition_high);
}

Error Pready_list(int length, const int array_of_partitions[], Request& request) {
  Sender* sender = nullptr;
  if (Error e = sender_of(request, sender)) return e;
  for (int i = 0; i < length; ++i)
    if (Error e = check_partition(*sender, "an element of array_of_partitions", array_of_partitions[i])) return e;
  for (int i = 0; i < length; ++i)
    if (Error e = sender->ready(array_of_partitions[i], array_of_partitions[i])) return e;
  return success;
}

Error Parrived(Request* request, int partition, int* flag) {
  *flag = 1;
  if (request == nullptr) return success;
  if (request->type == nullptr || request->type != &Receiver::type)
    return fail(MPI_ERR_REQUEST, "the request is not a partitioned receive");
  auto& receiver = *static_cast<Receiver*>(request->state);
  if (Error e = check_partition(receiver, "partition", partition)) return e;
  if (!request->active) return success;
  *flag = receiver.test(partition);
  return success;
}

}  // namespace heddle::mpi
