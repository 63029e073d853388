// Calls on communicators that were revoked find the VNI that their operation is on, not the first: matched messages that are received
// afterwards, and persistent requests that are made and started afterwards. Long messages on every VNI go on.
#include "mpi/ft/life.hpp"

namespace {

using namespace test;

constexpr int length = 1 << 20;

void await_revocation(MPI_Comm comm) {
  for (int flag = 0; flag == 0;) succeeds(MPIX_Comm_is_revoked(comm, &flag), "MPIX_Comm_is_revoked");
}

bool is_end(int error) { return error == MPI_SUCCESS || class_of(error) == MPIX_ERR_REVOKED; }

// Sender and receiver of a message that is matched before the communicator is revoked.
void matched(MPI_Comm comm, int bytes, bool nonblocking) {
  std::vector<char> data(static_cast<std::size_t>(bytes), rank() == 0 ? 'm' : '-');
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank() == 0) {
    succeeds(MPI_Isend(data.data(), bytes, MPI_CHAR, 1, 5, comm, &request), "MPI_Isend");
    succeeds(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
    succeeds(MPIX_Comm_revoke(comm), "MPIX_Comm_revoke");
    check(is_end(MPI_Wait(&request, MPI_STATUS_IGNORE)), "the end of the send");
    return;
  }
  MPI_Message message;
  succeeds(MPI_Mprobe(MPI_ANY_SOURCE, 5, comm, &message, MPI_STATUS_IGNORE), "MPI_Mprobe");
  succeeds(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
  await_revocation(comm);
  int error;
  if (nonblocking) {
    succeeds(MPI_Imrecv(data.data(), bytes, MPI_CHAR, &message, &request), "MPI_Imrecv");
    error = MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    error = MPI_Mrecv(data.data(), bytes, MPI_CHAR, &message, MPI_STATUS_IGNORE);
  }
  // Between nodes the sender may have taken back a long one.
  check(is_end(error), "the end of the receive");
  if (error == MPI_SUCCESS) check(data.front() == 'm' && data.back() == 'm', "what has come");
}

// One that can only end with an error, beside one that takes its time.
void persistent(MPI_Comm comm, MPI_Comm other) {
  int value = 0, in = 0;
  const int peer = 1 - rank();
  for (const bool receives : {false, true}) {
    MPI_Request requests[2];
    MPI_Status statuses[2];
    if (receives)
      succeeds(MPI_Recv_init(&value, 1, MPI_INT, peer, 6, comm, &requests[1]), "MPI_Recv_init");
    else
      succeeds(MPI_Send_init(&value, 1, MPI_INT, peer, 6, comm, &requests[1]), "MPI_Send_init");
    if (rank() == 1) succeeds(MPI_Recv(nullptr, 0, MPI_INT, peer, 7, other, MPI_STATUS_IGNORE), "MPI_Recv");
    succeeds(MPI_Irecv(&in, 1, MPI_INT, peer, 8, other, &requests[0]), "MPI_Irecv");
    succeeds(MPI_Start(&requests[1]), "MPI_Start");
    if (rank() == 0) succeeds(MPI_Send(nullptr, 0, MPI_INT, peer, 7, other), "MPI_Send");
    if (rank() == 1) succeeds(MPI_Send(&peer, 1, MPI_INT, peer, 8, other), "MPI_Send");
    is_class(MPI_Waitall(2, requests, statuses), MPI_ERR_IN_STATUS, "MPI_Waitall");
    succeeds(statuses[0].MPI_ERROR, "the status of a receive on another communicator");
    is_class(statuses[1].MPI_ERROR, MPIX_ERR_REVOKED, "the status of a persistent request");
    if (rank() == 0) succeeds(MPI_Send(&peer, 1, MPI_INT, peer, 8, other), "MPI_Send");
    succeeds(MPI_Request_free(&requests[1]), "MPI_Request_free");
  }
}

void long_messages(MPI_Comm comm) {
  std::vector<char> out(length, 'x'), in(length);
  succeeds(MPI_Sendrecv(out.data(), length, MPI_CHAR, 1 - rank(), 9, in.data(), length, MPI_CHAR, 1 - rank(), 9, comm,
                        MPI_STATUS_IGNORE),
           "MPI_Sendrecv of long messages");
}

}  // namespace

int main(int argc, char** argv) {
  const test::Session session(&argc, &argv);
  return_errors(MPI_COMM_WORLD);
  std::vector<MPI_Comm> revoked(8), whole(revoked.size());
  for (std::size_t i = 0; i < revoked.size(); ++i) {
    succeeds(MPI_Comm_dup(MPI_COMM_WORLD, &revoked[i]), "MPI_Comm_dup");
    succeeds(MPI_Comm_dup(MPI_COMM_WORLD, &whole[i]), "MPI_Comm_dup");
  }
  for (std::size_t i = 0; i < revoked.size(); ++i) {
    matched(revoked[i], i % 4 < 2 ? length : 8, i % 2 == 1);
    await_revocation(revoked[i]);
    persistent(revoked[i], whole[i]);
    for (MPI_Comm comm : whole) long_messages(comm);
    long_messages(MPI_COMM_WORLD);
  }
  for (std::size_t i = 0; i < revoked.size(); ++i) {
    MPI_Comm_free(&revoked[i]);
    MPI_Comm_free(&whole[i]);
  }
  return 0;
}
