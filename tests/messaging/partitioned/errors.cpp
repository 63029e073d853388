// Refusals of partitioned communication, by class; and sides that do not agree end with an error instead of a hang.
#include <vector>

#include "mpi/check.hpp"

namespace {

using test::check;
using test::class_of;
using test::equal;

void misuse() {
  int out[4] = {}, in[4], flag;
  MPI_Request send, receive, plain;
  MPI_Psend_init(out, 4, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_INFO_NULL, &send);
  MPI_Precv_init(in, 4, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_INFO_NULL, &receive);
  MPI_Send_init(out, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &plain);
  equal(class_of(MPI_Pready(0, send)), MPI_ERR_REQUEST, "before the start");
  MPI_Start(&send);
  MPI_Start(&receive);
  equal(class_of(MPI_Pready(4, send)), MPI_ERR_ARG, "no such partition");
  equal(class_of(MPI_Pready(-1, send)), MPI_ERR_ARG, "no such partition");
  equal(class_of(MPI_Pready_range(2, 4, send)), MPI_ERR_ARG, "no such range");
  const int list[] = {1, 9};
  equal(class_of(MPI_Pready_list(2, list, send)), MPI_ERR_ARG, "no such element");
  equal(class_of(MPI_Pready(0, receive)), MPI_ERR_REQUEST, "ready of a receive");
  equal(class_of(MPI_Pready(0, plain)), MPI_ERR_REQUEST, "ready of another kind");
  equal(class_of(MPI_Parrived(send, 0, &flag)), MPI_ERR_REQUEST, "arrived of a send");
  equal(class_of(MPI_Parrived(receive, 4, &flag)), MPI_ERR_ARG, "no such partition");
  equal(class_of(MPI_Cancel(&receive)), MPI_ERR_REQUEST, "cancel");
  equal(class_of(MPI_Cancel(&send)), MPI_ERR_REQUEST, "cancel");
  equal(MPI_Parrived(MPI_REQUEST_NULL, 0, &flag), MPI_SUCCESS, "arrived of no request");
  check(flag, "is true");
  equal(MPI_Pready(1, send), MPI_SUCCESS, "a failed call has marked nothing");
  equal(class_of(MPI_Pready(1, send)), MPI_ERR_ARG, "marked twice");
  const int rest[] = {3, 0, 2};
  MPI_Pready_list(3, rest, send);
  MPI_Wait(&send, MPI_STATUS_IGNORE);
  MPI_Wait(&receive, MPI_STATUS_IGNORE);
  for (MPI_Request* r : {&send, &receive, &plain}) MPI_Request_free(r);
  int in_one;
  equal(class_of(MPI_Precv_init(&in_one, 1, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_SELF, MPI_INFO_NULL, &receive)),
        MPI_ERR_RANK, "no wildcards");
  equal(class_of(MPI_Precv_init(&in_one, 1, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_SELF, MPI_INFO_NULL, &receive)),
        MPI_ERR_TAG, "no wildcards");
}

// The whole differs, shorter or longer than is sent: the receiver is told, the sender gets on, in every round.
void disagreement(int sent, int expected) {
  const int right = (test::rank() + 1) % test::size(), left = (test::rank() + test::size() - 1) % test::size();
  std::vector<int> out(static_cast<std::size_t>(sent)), in(static_cast<std::size_t>(expected), -1);
  MPI_Request send, receive;
  MPI_Psend_init(out.data(), 2, sent / 2, MPI_INT, right, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &send);
  MPI_Precv_init(in.data(), 1, expected, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &receive);
  for (int round = 0; round < 2; ++round) {
    MPI_Start(&receive);
    MPI_Start(&send);
    MPI_Pready_range(0, 1, send);
    MPI_Status status;
    equal(class_of(MPI_Wait(&receive, &status)), MPI_ERR_TRUNCATE, "disagreement");
    int count;
    MPI_Get_count(&status, MPI_INT, &count);
    equal(count, 0, "nothing has arrived");
    equal(MPI_Wait(&send, MPI_STATUS_IGNORE), MPI_SUCCESS, "the sender has sent");
    for (int i : in) equal(i, -1, "nothing is written");
  }
  MPI_Request_free(&send);
  MPI_Request_free(&receive);
}

// Inits that never meet their other side can be freed.
void unmatched() {
  int in;
  MPI_Request receive;
  MPI_Precv_init(&in, 1, 1, MPI_INT, test::rank(), 2, MPI_COMM_WORLD, MPI_INFO_NULL, &receive);
  MPI_Request_free(&receive);
}

}  // namespace

int main(int argc, char** argv) {
  test::Session session(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  misuse();
  disagreement(20, 10);
  disagreement(10, 20);
  disagreement(200000, 100000);
  unmatched();
}
