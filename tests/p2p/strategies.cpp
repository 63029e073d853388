// Communicators with strategies of their own (info key heddle_model), between nodes: bursts of short messages on each arrive in order, and
// take as many packets as the strategy gives them. Counts, no times.
#include <string>
#include <vector>

#include "mpi/check.hpp"
#include "tool/tool.hpp"

namespace {

constexpr int bursts = 100;
constexpr int burst = 64;

struct Of {
  const char* model;
  bool collects;
};
constexpr Of communicators[] = {{"strategy=direct", false},
                                {"auto,strategy=aggregate", true},
                                {"lockq-mcs,vnis=1,strategy=auto", true},
                                {"mtx,strategy=priority", true}};

MPI_Comm make(const char* model) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "heddle_model", model);
  MPI_Comm comm;
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
  MPI_Info_free(&info);
  return comm;
}

// From rank 0 to rank 1, and a word back after each burst.
void exchange(MPI_Comm comm) {
  std::vector<int> numbers(burst);
  std::vector<MPI_Request> requests(burst);
  for (int round = 0; round < bursts; ++round) {
    for (int i = 0; i < burst; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (test::rank() == 0) {
        numbers[at] = round * burst + i;
        MPI_Isend(&numbers[at], 1, MPI_INT, 1, 0, comm, &requests[at]);
      } else {
        MPI_Irecv(&numbers[at], 1, MPI_INT, 0, 0, comm, &requests[at]);
      }
    }
    MPI_Waitall(burst, requests.data(), MPI_STATUSES_IGNORE);
    for (int i = 0; i < burst; ++i) test::equal(numbers[static_cast<std::size_t>(i)], round * burst + i, "message");
    if (test::rank() == 0) MPI_Recv(nullptr, 0, MPI_INT, 1, 1, comm, MPI_STATUS_IGNORE);
    if (test::rank() == 1) MPI_Send(nullptr, 0, MPI_INT, 0, 1, comm);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const test::Session mpi(&argc, &argv);
  const test::Tool tool;
  MPI_T_pvar_session session;
  test::ok(MPI_T_pvar_session_create(&session), "MPI_T_pvar_session_create");
  std::vector<MPI_Comm> comms;
  for (const Of& one : communicators) comms.push_back(make(one.model));
  for (std::size_t i = 0; i < comms.size(); ++i) {
    const test::Counter packets(session, "comm_vni_packets_sent_to_other_nodes", comms[i]);
    const test::Counter messages(session, "comm_vni_messages_sent_to_other_nodes", comms[i]);
    exchange(comms[i]);
    if (test::rank() != 0) continue;
    std::printf("%s: %llu messages in %llu packets\n", communicators[i].model, messages.read(), packets.read());
    test::check(messages.read() >= bursts * burst, "all were sent on this communicator's VNI");
    if (communicators[i].collects) {
      test::check(packets.read() < messages.read() / 2, "messages go together");
    } else {
      test::check(packets.read() >= messages.read(), "each message goes alone");
    }
  }
  test::ok(MPI_T_pvar_session_free(&session), "MPI_T_pvar_session_free");
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
}
