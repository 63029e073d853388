// Graph and distributed graph topologies, random ones: every process checks its neighbors against all edges.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "mpi/check.hpp"

namespace {

using test::check;
using test::equal;

unsigned below(std::mt19937& random, int n) { return static_cast<unsigned>(random() % static_cast<unsigned>(n)); }

// Symmetric, with loops and repeated edges, as the standard allows.
void graph(std::mt19937& random) {
  const int n = test::size();
  std::vector<std::vector<int>> neighbors(static_cast<std::size_t>(n));
  for (int i = 0; i < 2 * n; ++i) {
    const unsigned a = below(random, n), b = below(random, n);
    neighbors[a].push_back(static_cast<int>(b));
    if (a != b) neighbors[b].push_back(static_cast<int>(a));
  }
  std::vector<int> index, edges;
  for (const auto& list : neighbors) {
    edges.insert(edges.end(), list.begin(), list.end());
    index.push_back(static_cast<int>(edges.size()));
  }
  MPI_Comm comm;
  MPI_Graph_create(MPI_COMM_WORLD, n, index.data(), edges.data(), 0, &comm);
  int status, nodes, count;
  MPI_Topo_test(comm, &status);
  equal(status, MPI_GRAPH, "Topo_test");
  MPI_Graphdims_get(comm, &nodes, &count);
  equal(nodes, n, "nodes");
  equal(count, static_cast<long long>(edges.size()), "edges");
  std::vector<int> got_index(index.size()), got_edges(edges.size());
  MPI_Graph_get(comm, nodes, count, got_index.data(), got_edges.data());
  check(got_index == index && got_edges == edges, "Graph_get");
  for (int r = 0; r < n; ++r) {
    const auto& expected = neighbors[static_cast<std::size_t>(r)];
    MPI_Graph_neighbors_count(comm, r, &count);
    equal(count, static_cast<long long>(expected.size()), "number of neighbors");
    std::vector<int> got(expected.size());
    MPI_Graph_neighbors(comm, r, count, got.data());
    check(got == expected, "neighbors");
  }
  MPI_Comm_free(&comm);
}

// Each edge is given by a random process; every process then has exactly its own, each as often as it was given, and
// both ends agree on the order of what they send and receive.
void distributed(std::mt19937& random, bool weighted) {
  struct Edge {
    int from, to, weight;
  };
  const int n = test::size();
  std::vector<int> sources, degrees, destinations, weights;
  std::map<std::pair<int, int>, int> in, out;  // (neighbor, weight) -> how often
  for (int i = 0; i < 4 * n; ++i) {
    const auto giver = static_cast<int>(below(random, n));
    const Edge edge{static_cast<int>(below(random, n)), static_cast<int>(below(random, n)),
                    static_cast<int>(below(random, 10))};
    if (edge.to == test::rank()) ++in[{edge.from, weighted ? edge.weight : 0}];
    if (edge.from == test::rank()) ++out[{edge.to, weighted ? edge.weight : 0}];
    if (giver != test::rank()) continue;
    sources.push_back(edge.from);
    degrees.push_back(1);
    destinations.push_back(edge.to);
    weights.push_back(edge.weight);
  }
  MPI_Comm comm;
  MPI_Dist_graph_create(MPI_COMM_WORLD, static_cast<int>(sources.size()), sources.data(), degrees.data(),
                        destinations.data(),
                        !weighted         ? MPI_UNWEIGHTED
                        : sources.empty() ? MPI_WEIGHTS_EMPTY
                                          : weights.data(),
                        MPI_INFO_NULL, 0, &comm);
  int indegree, outdegree, flag;
  MPI_Dist_graph_neighbors_count(comm, &indegree, &outdegree, &flag);
  equal(flag != 0, weighted, "weighted");
  std::vector<int> from(static_cast<std::size_t>(indegree)), from_weights(from);
  std::vector<int> to(static_cast<std::size_t>(outdegree)), to_weights(to);
  MPI_Dist_graph_neighbors(comm, indegree, from.data(), weighted ? from_weights.data() : MPI_UNWEIGHTED, outdegree,
                           to.data(), weighted ? to_weights.data() : MPI_UNWEIGHTED);
  for (std::size_t i = 0; i < from.size(); ++i) --in[{from[i], from_weights[i]}];
  for (std::size_t i = 0; i < to.size(); ++i) --out[{to[i], to_weights[i]}];
  const auto used_up = [](const auto& entry) { return entry.second == 0; };
  check(std::all_of(in.begin(), in.end(), used_up), "sources");
  check(std::all_of(out.begin(), out.end(), used_up), "destinations");

  // The value sent along an edge is its number among my edges to that process; it arrives in that order.
  std::vector<int> sent(to.size() + 1), got(from.size() + 1, -1);  // with a place for their addresses to point to
  std::map<int, int> number;
  for (std::size_t i = 0; i < to.size(); ++i) sent[i] = number[to[i]]++;
  MPI_Neighbor_alltoall(sent.data(), 1, MPI_INT, got.data(), 1, MPI_INT, comm);
  number.clear();
  for (std::size_t i = 0; i < from.size(); ++i) equal(got[i], number[from[i]]++, "order of edges");
  MPI_Comm_free(&comm);
}

void ring() {
  const int left = (test::rank() + test::size() - 1) % test::size(), right = (test::rank() + 1) % test::size();
  const int weight = 3;
  MPI_Comm comm;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, &weight, 1, &right, &weight, MPI_INFO_NULL, 0, &comm);
  int from = -1, to = -1, from_weight = 0, to_weight = 0, got = -1;
  MPI_Dist_graph_neighbors(comm, 1, &from, &from_weight, 1, &to, &to_weight);
  check(from == left && to == right && from_weight == weight && to_weight == weight, "a ring");
  const int me = test::rank();
  MPI_Neighbor_allgather(&me, 1, MPI_INT, &got, 1, MPI_INT, comm);
  equal(got, left, "allgather around a ring");
  MPI_Comm_free(&comm);
}

// Graphs of as many nodes as there are processes, of fewer and of more, to which no process belongs.
void places() {
  for (int n = 0; n <= test::size() + 1; ++n) {
    const std::vector<int> index(static_cast<std::size_t>(n) + 1, 0);
    const int edge = 0;
    int place = -1;
    MPI_Graph_map(MPI_COMM_WORLD, n, index.data(), &edge, &place);
    equal(place, n <= test::size() && test::rank() < n ? test::rank() : MPI_UNDEFINED, "the place in a graph");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const test::Session session(&argc, &argv);
  std::mt19937 random(test::seed(argc, argv));
  for (int round = 0; round < 10; ++round) {
    graph(random);
    distributed(random, round % 2 == 0);
  }
  ring();
  places();
}
