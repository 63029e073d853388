// Graph topologies, of which every process knows all (MPI 5.0, section 8.5.3), and MPI_Topo_test.
#include <algorithm>
#include <memory>

#include "mpi/comm/split.hpp"
#include "objects/binding/impl.hpp"
#include "objects/object/comm.hpp"
#include "objects/object/resolve.hpp"
#include "objects/object/topology.hpp"

namespace heddle::mpi {

namespace {

struct Range {
  const int* begin;
  const int* end;
};

Range neighbors_of(const Graph& graph, int rank) {
  const int first = rank == 0 ? 0 : graph.index[static_cast<std::size_t>(rank) - 1];
  return {graph.edges.data() + first, graph.edges.data() + graph.index[static_cast<std::size_t>(rank)]};
}

Error graph_of(const Comm& comm, const Graph*& graph) {
  graph = comm.topology ? std::get_if<Graph>(&comm.topology->shape) : nullptr;
  return graph ? success : fail(MPI_ERR_TOPOLOGY, "comm has no graph topology");
}

Error check_graph(int nnodes, const int index[], const int edges[]) {
  for (int node = 0; node < nnodes; ++node) {
    if (index[node] < (node == 0 ? 0 : index[node - 1]))
      return fail(MPI_ERR_ARG, "index[%d] is %d, less than the one before it", node, index[node]);
  }
  const int edge_count = nnodes == 0 ? 0 : index[nnodes - 1];
  for (int edge = 0; edge < edge_count; ++edge) {
    if (edges[edge] < 0 || edges[edge] >= nnodes)
      return fail(MPI_ERR_ARG, "edges[%d] is %d, but the graph has %d nodes", edge, edges[edge], nnodes);
  }
  return success;
}

}  // namespace

Error Graph_create(Comm& comm_old, int nnodes, const int index[], const int edges[], int reorder,
                   MPI_Comm* comm_graph) {
  *comm_graph = MPI_COMM_NULL;
  if (nnodes > comm_old.size)
    return fail(MPI_ERR_ARG, "nnodes is %d, but the communicator has %d processes", nnodes, comm_old.size);
  if (Error e = check_graph(nnodes, index, edges)) return e;
  Comm* child = nullptr;
  if (Error e = split(comm_old, comm_old.rank < nnodes ? 0 : MPI_UNDEFINED, comm_old.rank, child)) return e;
  if (!child) return success;
  auto topology = std::make_shared<Topology>();
  const Graph graph{{index, index + nnodes}, {edges, edges + index[nnodes - 1]}};
  const Range mine = neighbors_of(graph, child->rank);
  for (const int* it = mine.begin; it != mine.end; ++it) topology->sources.push_back({*it, 0});
  topology->destinations = topology->sources;
  topology->shape = graph;
  child->topology = std::move(topology);
  *comm_graph = handle_of<MPI_Comm>(*child);
  return success;
}

// No process belongs to a graph that the communicator cannot fill; see MPI_Cart_map.
Error Graph_map(Comm& comm, int nnodes, const int index[], const int edges[], int* newrank) {
  if (Error e = check_graph(nnodes, index, edges)) return e;
  *newrank = comm.rank < nnodes && nnodes <= comm.size ? comm.rank : MPI_UNDEFINED;
  return success;
}

Error Graphdims_get(Comm& comm, int* nnodes, int* nedges) {
  const Graph* graph = nullptr;
  if (Error e = graph_of(comm, graph)) return e;
  *nnodes = static_cast<int>(graph->index.size());
  *nedges = static_cast<int>(graph->edges.size());
  return success;
}

// As many as the caller has room for.
Error Graph_get(Comm& comm, int maxindex, int maxedges, int index[], int edges[]) {
  const Graph* graph = nullptr;
  if (Error e = graph_of(comm, graph)) return e;
  std::copy_n(graph->index.begin(), std::min(static_cast<std::size_t>(maxindex), graph->index.size()), index);
  std::copy_n(graph->edges.begin(), std::min(static_cast<std::size_t>(maxedges), graph->edges.size()), edges);
  return success;
}

Error Graph_neighbors_count(Comm& comm, int rank, int* nneighbors) {
  const Graph* graph = nullptr;
  if (Error e = graph_of(comm, graph)) return e;
  const Range neighbors = neighbors_of(*graph, rank);
  *nneighbors = static_cast<int>(neighbors.end - neighbors.begin);
  return success;
}

Error Graph_neighbors(Comm& comm, int rank, int maxneighbors, int neighbors[]) {
  const Graph* graph = nullptr;
  if (Error e = graph_of(comm, graph)) return e;
  const Range range = neighbors_of(*graph, rank);
  std::copy(range.begin, std::min(range.end, range.begin + maxneighbors), neighbors);
  return success;
}

Error Topo_test(Comm& comm, int* status) {
  constexpr int kinds[] = {MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH};  // as the variant has them
  *status = comm.topology ? kinds[comm.topology->shape.index()] : MPI_UNDEFINED;
  return success;
}

}  // namespace heddle::mpi
