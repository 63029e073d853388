// Every function, on processes of which the last one dies at once: what each returns, to whom, and what goes on.
#include "mpi/ft/life.hpp"

namespace {

using namespace test;

MPI_Comm world = MPI_COMM_WORLD;
int last = 0;  // dies

void sends_and_receives() {
  int value = 1;
  is_class(MPI_Recv(&value, 1, MPI_INT, last, 0, world, MPI_STATUS_IGNORE), MPIX_ERR_PROC_FAILED, "MPI_Recv");
  await_failures(world, 1);
  int error = MPI_SUCCESS;
  for (int i = 0; i < 5000 && error == MPI_SUCCESS; ++i) error = MPI_Send(&value, 1, MPI_INT, last, 0, world);
  is_class(error, MPIX_ERR_PROC_FAILED, "MPI_Send, in the end");
  is_class(MPI_Ssend(&value, 1, MPI_INT, last, 0, world), MPIX_ERR_PROC_FAILED, "MPI_Ssend");
  std::vector<char> large(1 << 20);
  is_class(MPI_Send(large.data(), 1 << 20, MPI_CHAR, last, 0, world), MPIX_ERR_PROC_FAILED, "a long MPI_Send");
  MPI_Request requests[2];
  succeeds(MPI_Irecv(large.data(), 1 << 20, MPI_CHAR, last, 0, world, &requests[0]), "MPI_Irecv");
  succeeds(MPI_Isend(large.data(), 1 << 20, MPI_CHAR, last, 0, world, &requests[1]), "MPI_Isend");
  MPI_Status statuses[2];
  is_class(MPI_Waitall(2, requests, statuses), MPI_ERR_IN_STATUS, "MPI_Waitall");
  for (const MPI_Status& status : statuses) is_class(status.MPI_ERROR, MPIX_ERR_PROC_FAILED, "a status");
  is_class(MPI_Probe(last, 0, world, MPI_STATUS_IGNORE), MPIX_ERR_PROC_FAILED, "MPI_Probe");
  is_class(MPI_Sendrecv(&value, 1, MPI_INT, last, 0, &value, 1, MPI_INT, last, 0, world, MPI_STATUS_IGNORE),
           MPIX_ERR_PROC_FAILED, "MPI_Sendrecv");
  MPI_Request persistent;
  succeeds(MPI_Recv_init(&value, 1, MPI_INT, last, 0, world, &persistent), "MPI_Recv_init");
  for (int round = 0; round < 2; ++round) {
    succeeds(MPI_Start(&persistent), "MPI_Start");
    is_class(MPI_Wait(&persistent, MPI_STATUS_IGNORE), MPIX_ERR_PROC_FAILED, "MPI_Wait of a persistent receive");
  }
  MPI_Request_free(&persistent);
}

// The living go on as if nothing had been.
void living() {
  const int next = (rank() + 1) % last, before = (rank() + last - 1) % last;
  std::vector<int> out(100'000, rank()), in(out.size(), -1);
  for (const int n : {1, 1000, 100'000}) {
    succeeds(MPI_Sendrecv(out.data(), n, MPI_INT, next, 5, in.data(), n, MPI_INT, before, 5, world, MPI_STATUS_IGNORE),
             "MPI_Sendrecv of the living");
    test::equal(in[static_cast<std::size_t>(n - 1)], before, "what has come");
  }
}

void wildcards() {
  int value = -1;
  is_class(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, world, MPI_STATUS_IGNORE), MPIX_ERR_PROC_FAILED,
           "MPI_Recv from any source");
  is_class(MPI_Probe(MPI_ANY_SOURCE, 1, world, MPI_STATUS_IGNORE), MPIX_ERR_PROC_FAILED_PENDING,
           "MPI_Probe of any source");
  MPI_Request request;
  succeeds(MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, world, &request), "MPI_Irecv");
  is_class(MPI_Wait(&request, MPI_STATUS_IGNORE), MPIX_ERR_PROC_FAILED_PENDING, "MPI_Wait");
  check(request != MPI_REQUEST_NULL, "the request is pending still");
  int flag = 0;
  int error;
  while ((error = MPI_Test(&request, &flag, MPI_STATUS_IGNORE)) == MPI_SUCCESS)
    test::equal(flag, 0, "nothing has come");
  is_class(error, MPIX_ERR_PROC_FAILED_PENDING, "MPI_Test");
  check(request != MPI_REQUEST_NULL, "the request is pending still");

  int acknowledged = -1;
  succeeds(MPIX_Comm_ack_failed(world, 0, &acknowledged), "MPIX_Comm_ack_failed of none");
  test::equal(acknowledged, 0, "failures that are acknowledged");
  succeeds(MPIX_Comm_ack_failed(world, size_of(world), &acknowledged), "MPIX_Comm_ack_failed");
  test::equal(acknowledged, 1, "failures that are acknowledged");
  MPI_Group group;
  succeeds(MPIX_Comm_failure_get_acked(world, &group), "MPIX_Comm_failure_get_acked");
  check(ranks_of(group, world) == std::vector{last}, "who is acknowledged");
  MPI_Group_free(&group);
  succeeds(MPI_Test(&request, &flag, MPI_STATUS_IGNORE), "MPI_Test after the acknowledgment");
  test::equal(flag, 0, "nothing has come");
  int all = 1;
  succeeds(MPIX_Comm_agree(world, &all), "MPIX_Comm_agree when all have acknowledged");
  const int out = 7;
  succeeds(MPI_Send(&out, 1, MPI_INT, (rank() + 1) % last, 1, world), "MPI_Send");
  MPI_Status status;
  succeeds(MPI_Wait(&request, &status), "MPI_Wait after the acknowledgment");
  test::equal(value, 7, "what has come");
  test::equal(status.MPI_SOURCE, (rank() + last - 1) % last, "from whom");
  // A receive that was told to be pending can be taken back.
  succeeds(MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 99, world, &request), "MPI_Irecv");
  succeeds(MPI_Cancel(&request), "MPI_Cancel");
  succeeds(MPI_Wait(&request, &status), "MPI_Wait of a cancelled receive");
}

void collectives() {
  int mine = 1, sum = 0;
  is_class(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, world), MPIX_ERR_PROC_FAILED, "MPI_Allreduce");
  is_class(MPI_Barrier(world), MPIX_ERR_PROC_FAILED, "MPI_Barrier");
  MPI_Request request;
  const int error = MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, world, &request);
  is_class(error != MPI_SUCCESS ? error : MPI_Wait(&request, MPI_STATUS_IGNORE), MPIX_ERR_PROC_FAILED,
           "MPI_Iallreduce");
  MPI_Comm copy;
  is_class(MPI_Comm_dup(world, &copy), MPIX_ERR_PROC_FAILED, "MPI_Comm_dup");
}

// Before a revocation.
void agreement(bool acknowledged) {
  int flag = rank() == 0 ? 0b1110 : 0b0111;
  is_class(MPIX_Comm_agree(world, &flag), acknowledged ? MPI_SUCCESS : MPIX_ERR_PROC_FAILED, "MPIX_Comm_agree");
  test::equal(flag, last == 1 ? 0b1110 : 0b0110, "what was agreed on");
  MPI_Request requests[12];
  int flags[12];
  for (int i = 0; i < 12; ++i) {  // more than may be under way at a time
    flags[i] = rank() == 0 ? i : -1;
    succeeds(MPIX_Comm_iagree(world, &flags[i], &requests[i]), "MPIX_Comm_iagree");
  }
  for (int i = 11; i >= 0; --i) {
    is_class(MPI_Wait(&requests[i], MPI_STATUS_IGNORE), acknowledged ? MPI_SUCCESS : MPIX_ERR_PROC_FAILED,
             "MPI_Wait of an agreement");
    test::equal(flags[i], i, "what was agreed on");
  }
}

void works(MPI_Comm comm, int members) {
  test::equal(size_of(comm), members, "members");
  int mine = rank(), sum = -1;
  succeeds(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm), "MPI_Allreduce of the survivors");
  test::equal(sum, members * (members - 1) / 2, "sum of the survivors");
  test::equal(static_cast<long long>(failed_of(comm).size()), 0, "failed survivors");
}

void shrinks(MPI_Comm comm) {
  MPI_Comm left;
  succeeds(MPIX_Comm_shrink(comm, &left), "MPIX_Comm_shrink");
  test::equal(rank_in(left), rank(), "ranks keep their order");
  works(left, last);
  MPI_Comm again;
  MPI_Request request;
  succeeds(MPIX_Comm_ishrink(left, &again, &request), "MPIX_Comm_ishrink");
  succeeds(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait of a shrink");
  works(again, last);
  succeeds(MPI_Comm_free(&again), "MPI_Comm_free");
  succeeds(MPI_Comm_free(&left), "MPI_Comm_free");
}

void revocation(MPI_Comm left) {
  MPI_Comm copy;
  succeeds(MPI_Comm_dup(left, &copy), "MPI_Comm_dup of the survivors");
  int flag = -1;
  succeeds(MPIX_Comm_is_revoked(copy, &flag), "MPIX_Comm_is_revoked");
  test::equal(flag, 0, "not revoked");
  flag = 1;
  succeeds(MPIX_Comm_agree(copy, &flag), "MPIX_Comm_agree, before a revocation");
  int value = 0;
  MPI_Request persistent;
  succeeds(MPI_Send_init(&value, 1, MPI_INT, 0, 3, copy, &persistent), "MPI_Send_init");
  MPI_Request pending;
  succeeds(MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, copy, &pending), "MPI_Irecv");
  std::vector<char> large(1 << 20);
  MPI_Request send;
  succeeds(MPI_Isend(large.data(), 1 << 20, MPI_CHAR, (rank_in(copy) + 1) % last, 77, copy, &send), "MPI_Isend");
  if (last > 1) {
    // A long message may match the receive from any source, or be revoked: either is an end.
    if (rank_in(copy) == 0) succeeds(MPIX_Comm_revoke(copy), "MPIX_Comm_revoke");
  } else {
    succeeds(MPIX_Comm_revoke(copy), "MPIX_Comm_revoke");
  }
  for (MPI_Request* request : {&pending, &send}) {
    const int error = MPI_Wait(request, MPI_STATUS_IGNORE);
    check(class_of(error) == MPIX_ERR_REVOKED || class_of(error) == MPI_SUCCESS || class_of(error) == MPI_ERR_TRUNCATE,
          "the end of what was under way");
    test::equal(*request == MPI_REQUEST_NULL, 1, "it is over");
  }
  int error = MPI_SUCCESS;
  while (error == MPI_SUCCESS) {  // until the news is here
    error = MPIX_Comm_is_revoked(copy, &flag);
    if (flag != 0) break;
  }
  succeeds(error, "MPIX_Comm_is_revoked");
  is_class(MPI_Send(&value, 1, MPI_INT, 0, 0, copy), MPIX_ERR_REVOKED, "MPI_Send");
  is_class(MPI_Recv(&value, 1, MPI_INT, 0, 0, copy, MPI_STATUS_IGNORE), MPIX_ERR_REVOKED, "MPI_Recv");
  is_class(MPI_Iprobe(0, 0, copy, &flag, MPI_STATUS_IGNORE), MPIX_ERR_REVOKED, "MPI_Iprobe");
  is_class(MPI_Barrier(copy), MPIX_ERR_REVOKED, "MPI_Barrier");
  succeeds(MPI_Start(&persistent), "MPI_Start");
  is_class(MPI_Wait(&persistent, MPI_STATUS_IGNORE), MPIX_ERR_REVOKED, "MPI_Wait of a persistent send");
  MPI_Request_free(&persistent);
  flag = 1;
  succeeds(MPIX_Comm_agree(copy, &flag), "MPIX_Comm_agree on a revoked communicator");
  MPI_Comm whole;
  succeeds(MPIX_Comm_shrink(copy, &whole), "MPIX_Comm_shrink of a revoked communicator");
  works(whole, last);
  MPI_Comm_free(&whole);
  MPI_Comm_free(&copy);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  return_errors(world);
  last = size() - 1;
  if (rank() == last) die();
  sends_and_receives();
  check(failed_of(world) == std::vector{last}, "who has failed");
  living();
  collectives();
  agreement(false);
  wildcards();
  agreement(true);
  shrinks(world);
  MPI_Comm left;
  succeeds(MPIX_Comm_shrink(world, &left), "MPIX_Comm_shrink");
  revocation(left);
  MPI_Comm_free(&left);
  MPI_Finalize();
  return 0;
}
