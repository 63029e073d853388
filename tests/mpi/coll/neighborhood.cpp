// Neighborhood collectives on Cartesian grids (also periodic ones of one and two processes, where a neighbor is met on
// both sides), graphs, and distributed graphs with several edges between the same two processes.
#include <numeric>

#include "harness.hpp"

using namespace test;

namespace {

inline const Trio neighbor_allgather{"neighbor_allgather", MPI_Neighbor_allgather, MPI_Ineighbor_allgather,
                                     MPI_Neighbor_allgather_init};
inline const Trio neighbor_allgatherv{"neighbor_allgatherv", MPI_Neighbor_allgatherv, MPI_Ineighbor_allgatherv,
                                      MPI_Neighbor_allgatherv_init};
inline const Trio neighbor_alltoall{"neighbor_alltoall", MPI_Neighbor_alltoall, MPI_Ineighbor_alltoall,
                                    MPI_Neighbor_alltoall_init};
inline const Trio neighbor_alltoallv{"neighbor_alltoallv", MPI_Neighbor_alltoallv, MPI_Ineighbor_alltoallv,
                                     MPI_Neighbor_alltoallv_init};
inline const Trio neighbor_alltoallw{"neighbor_alltoallw", MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw,
                                     MPI_Neighbor_alltoallw_init};

// One end of an edge: the process at the other end, and a number that both ends give the edge.
struct Edge {
  int peer;
  int label;
};
struct Neighborhood {
  MPI_Comm comm;
  std::vector<Edge> in, out;
};

constexpr int untouched = -5;
const auto at = [](auto i) { return static_cast<std::size_t>(i); };

void test_all(const Neighborhood& h, Mode mode, int n) {
  int me;
  MPI_Comm_rank(h.comm, &me);
  const int ins = static_cast<int>(h.in.size()), outs = static_cast<int>(h.out.size());
  std::vector<int> one(at(n)), from(at(n * outs)), to(at(n * ins));
  for (int i = 0; i < n; ++i) one[at(i)] = value(me, 0, i);
  for (int e = 0; e < outs; ++e) {
    for (int i = 0; i < n; ++i) from[at(e * n + i)] = value(me, h.out[at(e)].label, i);
  }
  const auto clear = [&] { std::fill(to.begin(), to.end(), untouched); };
  const auto check = [&](bool labelled, const char* what) {
    for (int e = 0; e < ins; ++e) {
      for (int i = 0; i < n; ++i) {
        const Edge& edge = h.in[at(e)];
        const int expected = edge.peer == MPI_PROC_NULL ? untouched : value(edge.peer, labelled ? edge.label : 0, i);
        expect(to[at(e * n + i)] == expected, what);
      }
    }
  };
  const auto ramp = [&](int blocks, int unit) {
    std::vector<int> v(at(blocks));
    for (int b = 0; b < blocks; ++b) v[at(b)] = b * n * unit;
    return v;
  };
  const std::vector<int> in_counts(at(ins), n), out_counts(at(outs), n), in_at = ramp(ins, 1), out_at = ramp(outs, 1);
  const auto bytes_at = [&](int blocks) {
    std::vector<MPI_Aint> v(at(blocks));
    for (int b = 0; b < blocks; ++b) v[at(b)] = static_cast<MPI_Aint>(b) * n * static_cast<MPI_Aint>(sizeof(int));
    return v;
  };
  const auto in_bytes = bytes_at(ins), out_bytes = bytes_at(outs);
  const std::vector<MPI_Datatype> in_types(at(ins), MPI_INT), out_types(at(outs), MPI_INT);

  exercise(
      mode, neighbor_allgather, clear, [&] { check(false, "allgather"); }, one.data(), n, MPI_INT, to.data(), n,
      MPI_INT, h.comm);
  exercise(
      mode, neighbor_allgatherv, clear, [&] { check(false, "allgatherv"); }, one.data(), n, MPI_INT, to.data(),
      in_counts.data(), in_at.data(), MPI_INT, h.comm);
  exercise(
      mode, neighbor_alltoall, clear, [&] { check(true, "alltoall"); }, from.data(), n, MPI_INT, to.data(), n, MPI_INT,
      h.comm);
  exercise(
      mode, neighbor_alltoallv, clear, [&] { check(true, "alltoallv"); }, from.data(), out_counts.data(), out_at.data(),
      MPI_INT, to.data(), in_counts.data(), in_at.data(), MPI_INT, h.comm);
  exercise(
      mode, neighbor_alltoallw, clear, [&] { check(true, "alltoallw"); }, from.data(), out_counts.data(),
      out_bytes.data(), out_types.data(), to.data(), in_counts.data(), in_bytes.data(), in_types.data(), h.comm);
}

// Labels say which way data travels: 2 d downwards, 2 d + 1 upwards along dimension d. A block from the lower neighbor travels upwards.
Neighborhood make_cart(const std::vector<int>& dims, int periodic) {
  Neighborhood h;
  const std::vector<int> periods(dims.size(), periodic);
  MPI_Cart_create(MPI_COMM_WORLD, static_cast<int>(dims.size()), dims.data(), periods.data(), 0, &h.comm);
  if (h.comm == MPI_COMM_NULL) return h;
  for (int d = 0; d < static_cast<int>(dims.size()); ++d) {
    int lower, upper;
    MPI_Cart_shift(h.comm, d, 1, &lower, &upper);
    h.out.push_back({lower, 2 * d});
    h.out.push_back({upper, 2 * d + 1});
    h.in.push_back({lower, 2 * d + 1});
    h.in.push_back({upper, 2 * d});
  }
  return h;
}

// Everyone with the next two, both ways, in rings; edges both to itself and double ones in small worlds.
Neighborhood make_dist_graph() {
  Neighborhood h;
  std::vector<int> sources, destinations;
  for (int d : {1, 2, 1}) {
    const int from = (world_rank - d + 2 * world_size) % world_size, to = (world_rank + d) % world_size;
    sources.push_back(from);
    destinations.push_back(to);
  }
  // The k-th edge from a process to another is the k-th there.
  const auto label = [](const std::vector<int>& peers) {
    std::vector<Edge> edges;
    for (std::size_t i = 0; i < peers.size(); ++i) {
      edges.push_back(
          {peers[i], static_cast<int>(std::count(peers.begin(), peers.begin() + static_cast<long>(i), peers[i]))});
    }
    return edges;
  };
  h.in = label(sources);
  h.out = label(destinations);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 3, sources.data(), MPI_UNWEIGHTED, 3, destinations.data(),
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &h.comm);
  return h;
}

// A star around rank 0.
Neighborhood make_graph() {
  Neighborhood h;
  std::vector<int> index, edges;
  for (int r = 1; r < world_size; ++r) edges.push_back(r);
  index.push_back(world_size - 1);
  for (int r = 1; r < world_size; ++r) {
    edges.push_back(0);
    index.push_back(world_size - 1 + r);
  }
  MPI_Graph_create(MPI_COMM_WORLD, world_size, index.data(), edges.data(), 0, &h.comm);
  if (world_rank == 0) {
    for (int r = 1; r < world_size; ++r) h.in.push_back({r, 0});
  } else {
    h.in.push_back({0, 0});
  }
  h.out = h.in;
  return h;
}

void test_and_free(Neighborhood h) {
  if (h.comm == MPI_COMM_NULL) return;
  for (Mode mode : all_modes) {
    for (int n : {1, 100, 9000}) test_all(h, mode, n);
  }
  MPI_Comm_free(&h.comm);
}

}  // namespace

int main(int argc, char** argv) {
  begin(argc, argv);
  for (int periodic : {0, 1}) {
    test_and_free(make_cart({world_size}, periodic));
    test_and_free(make_cart({world_size, 1}, periodic));
    if (world_size >= 4) test_and_free(make_cart({2, 2}, periodic));
    if (world_size >= 6) test_and_free(make_cart({3, 2}, periodic));
    if (world_size >= 8) test_and_free(make_cart({2, 2, 2}, periodic));
  }
  test_and_free(make_dist_graph());
  test_and_free(make_graph());
  return end();
}
