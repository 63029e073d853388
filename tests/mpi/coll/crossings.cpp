// How many messages of a collective cross from node to node: no more than there are nodes to reach. Run with HEDDLE_NODES, which is
// the argument.
#include "mpi/tool/tool.hpp"

#include <functional>
#include <string>
#include <vector>

namespace {

int nodes, rank, size;

// The messages of all ranks together, in one call of `operation`.
int crossings(MPI_T_pvar_session session, const std::function<void()>& operation) {
  operation();  // the first one makes what later ones use
  test::Counter sent(session, "vni_messages_sent_to_other_nodes");
  MPI_Barrier(MPI_COMM_SELF);
  const auto before = sent.read();
  operation();
  int mine = static_cast<int>(sent.read() - before), all = 0;
  std::vector<int> each(static_cast<std::size_t>(size));
  MPI_Gather(&mine, 1, MPI_INT, each.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (rank == 0)
    for (const int n : each) all += n;
  MPI_Bcast(&all, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return all;
}

void expect(const std::string& what, int got, int most) {
  const std::string text =
      what + ": " + std::to_string(got) + " messages between nodes, more than " + std::to_string(most);
  test::holds(got <= most, text.c_str());
  test::holds(got >= nodes - 1, (what + ": messages between nodes are not counted").c_str());
}

// A message of the network at most, so that none is asked for.
void expect_fewest(MPI_T_pvar_session session, MPI_Comm comm, const char* order) {
  const auto name = [&](const char* what) { return std::string(what) + ", " + order; };
  int rounds = 0;  // of an exchange between all nodes, in each of which every node sends
  for (int reached = 1; reached < nodes; reached *= 2) ++rounds;
  const int one_way = nodes - 1;
  const int exchange = nodes * rounds;
  std::vector<int> in(100, 1), out(100);
  std::vector<int> all(static_cast<std::size_t>(10 * size));
  expect(name("MPI_Barrier"), crossings(session, [&] { MPI_Barrier(comm); }), exchange);
  expect(name("MPI_Allreduce"),
         crossings(session, [&] { MPI_Allreduce(in.data(), out.data(), 100, MPI_INT, MPI_SUM, comm); }), exchange);
  expect(name("MPI_Allgather"),
         crossings(session, [&] { MPI_Allgather(in.data(), 10, MPI_INT, all.data(), 10, MPI_INT, comm); }),
         nodes * (nodes - 1));
  const auto wait = [](MPI_Request request) { MPI_Wait(&request, MPI_STATUS_IGNORE); };
  expect(name("MPI_Iallreduce"),
         crossings(session,
                   [&] {
                     MPI_Request request;
                     MPI_Iallreduce(in.data(), out.data(), 100, MPI_INT, MPI_SUM, comm, &request);
                     wait(request);
                   }),
         exchange);
  for (int root = 0; root < size; ++root) {
    expect(name("MPI_Bcast"), crossings(session, [&] { MPI_Bcast(in.data(), 100, MPI_INT, root, comm); }), one_way);
    expect(name("MPI_Reduce"),
           crossings(session, [&] { MPI_Reduce(in.data(), out.data(), 100, MPI_INT, MPI_SUM, root, comm); }), one_way);
    expect(name("MPI_Ibcast"),
           crossings(session,
                     [&] {
                       MPI_Request request;
                       MPI_Ibcast(in.data(), 100, MPI_INT, root, comm, &request);
                       wait(request);
                     }),
           one_way);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const test::Tool tool;
  MPI_Init(&argc, &argv);
  nodes = argc > 1 ? std::atoi(argv[1]) : 0;
  test::holds(nodes > 1, "the number of nodes is the argument");
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_T_pvar_session session;
  test::ok(MPI_T_pvar_session_create(&session));
  expect_fewest(session, MPI_COMM_WORLD, "ranks ordered by node");
  // 0, 2, 4, ..., 1, 3, ...: members of a node are not consecutive.
  MPI_Comm scattered;
  MPI_Comm_split(MPI_COMM_WORLD, 0, rank % 2, &scattered);
  expect_fewest(session, scattered, "ranks in another order");
  MPI_Comm_free(&scattered);
  MPI_T_pvar_session_free(&session);
  MPI_Finalize();
}
