// Distributed graph topologies, of which every process knows its own edges (MPI 5.0, section 8.5.4).
#include <algorithm>
#include <memory>

#include "mpi/comm/exchange.hpp"
#include "mpi/comm/split.hpp"
#include "objects/binding/impl.hpp"
#include "objects/object/comm.hpp"
#include "objects/object/resolve.hpp"
#include "objects/object/topology.hpp"

namespace heddle::mpi {

namespace {

// One process's edges, as it finally knows them.
struct Edges {
  bool weighted = false;
  std::vector<int> sources, source_weights;
  std::vector<int> destinations, destination_weights;
};

std::vector<Neighbor> neighbors(const std::vector<int>& ranks) {
  std::vector<Neighbor> result;
  result.reserve(ranks.size());
  for (const int rank : ranks) result.push_back({rank, 0});
  return result;
}

Error check_ranks(const Comm& comm, const char* array, const int* ranks, int n) {
  for (int i = 0; i < n; ++i) {
    if (ranks[i] < 0 || ranks[i] >= comm.size)
      return fail(MPI_ERR_RANK, "%s[%d] is %d, but the communicator has %d processes", array, i, ranks[i], comm.size);
  }
  return success;
}

Error check_weights(const char* array, const int* weights, long long n) {
  if (weights == MPI_UNWEIGHTED || n == 0) return success;
  if (!weights || weights == MPI_WEIGHTS_EMPTY) return fail(MPI_ERR_ARG, "%s has no weights for %lld edges", array, n);
  for (long long i = 0; i < n; ++i) {
    if (weights[i] < 0) return fail(MPI_ERR_ARG, "%s[%lld] is %d", array, i, weights[i]);
  }
  return success;
}

std::vector<int> weights_of(const int* weights, int n) {
  return weights == MPI_UNWEIGHTED || n == 0 ? std::vector<int>() : std::vector<int>(weights, weights + n);
}

Error create(Comm& parent, Edges edges, MPI_Comm* out) {
  Comm* child = nullptr;
  if (Error e = split(parent, 0, parent.rank, child)) return e;
  auto topology = std::make_shared<Topology>();
  topology->sources = neighbors(edges.sources);
  topology->destinations = neighbors(edges.destinations);
  topology->shape = DistGraph{edges.weighted, std::move(edges.source_weights), std::move(edges.destination_weights)};
  child->topology = std::move(topology);
  *out = handle_of<MPI_Comm>(*child);
  return success;
}

Error dist_graph_of(const Comm& comm, const DistGraph*& graph) {
  graph = comm.topology ? std::get_if<DistGraph>(&comm.topology->shape) : nullptr;
  return graph ? success : fail(MPI_ERR_TOPOLOGY, "comm has no distributed graph topology");
}

// As many as the caller has room for.
void copy_side(const std::vector<Neighbor>& neighbors, const std::vector<int>& weights, bool weighted, int room,
               int* ranks, int* ranks_weights) {
  const auto n = std::min(static_cast<std::size_t>(room), neighbors.size());
  for (std::size_t i = 0; i < n; ++i) ranks[i] = neighbors[i].rank;
  if (weighted && ranks_weights != MPI_UNWEIGHTED && ranks_weights != MPI_WEIGHTS_EMPTY)
    std::copy_n(weights.begin(), n, ranks_weights);
}

}  // namespace

Error Dist_graph_create_adjacent(Comm& comm_old, int indegree, const int sources[], const int sourceweights[],
                                 int outdegree, const int destinations[], const int destweights[], const Info* info,
                                 int reorder, MPI_Comm* comm_dist_graph) {
  if (Error e = check_ranks(comm_old, "sources", sources, indegree)) return e;
  if (Error e = check_ranks(comm_old, "destinations", destinations, outdegree)) return e;
  if (Error e = check_weights("sourceweights", sourceweights, indegree)) return e;
  if (Error e = check_weights("destweights", destweights, outdegree)) return e;
  Edges edges;
  edges.weighted = sourceweights != MPI_UNWEIGHTED && destweights != MPI_UNWEIGHTED;
  edges.sources.assign(sources, sources + indegree);
  edges.destinations.assign(destinations, destinations + outdegree);
  edges.source_weights = weights_of(sourceweights, indegree);
  edges.destination_weights = weights_of(destweights, outdegree);
  return create(comm_old, std::move(edges), comm_dist_graph);
}

// Any process may give any edges, so all edges go to all, and each picks its own, in the order of the givers.
Error Dist_graph_create(Comm& comm_old, int n, const int sources[], const int degrees[], const int destinations[],
                        const int weights[], const Info* info, int reorder, MPI_Comm* comm_dist_graph) {
  struct Edge {
    int from, to, weight;
  };
  if (Error e = check_ranks(comm_old, "sources", sources, n)) return e;
  long long given = 0;
  for (int i = 0; i < n; ++i) {
    if (degrees[i] < 0) return fail(MPI_ERR_ARG, "degrees[%d] is %d", i, degrees[i]);
    given += degrees[i];
  }
  if (Error e = check_ranks(comm_old, "destinations", destinations, static_cast<int>(given))) return e;
  if (Error e = check_weights("weights", weights, given)) return e;

  const bool weighted = weights != MPI_UNWEIGHTED;
  std::vector<Edge> mine, all;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < degrees[i]; ++j) {
      const std::size_t at = mine.size();
      mine.push_back({sources[i], destinations[at], weighted ? weights[at] : 0});
    }
  }
  if (Error e = gather(comm_old, mine, all)) return e;

  Edges edges;
  edges.weighted = weighted;
  for (const Edge& edge : all) {
    if (edge.to == comm_old.rank) {
      edges.sources.push_back(edge.from);
      edges.source_weights.push_back(edge.weight);
    }
    if (edge.from == comm_old.rank) {
      edges.destinations.push_back(edge.to);
      edges.destination_weights.push_back(edge.weight);
    }
  }
  return create(comm_old, std::move(edges), comm_dist_graph);
}

Error Dist_graph_neighbors_count(Comm& comm, int* indegree, int* outdegree, int* weighted) {
  const DistGraph* graph = nullptr;
  if (Error e = dist_graph_of(comm, graph)) return e;
  *indegree = static_cast<int>(comm.topology->sources.size());
  *outdegree = static_cast<int>(comm.topology->destinations.size());
  *weighted = graph->weighted;
  return success;
}

Error Dist_graph_neighbors(Comm& comm, int maxindegree, int sources[], int sourceweights[], int maxoutdegree,
                           int destinations[], int destweights[]) {
  const DistGraph* graph = nullptr;
  if (Error e = dist_graph_of(comm, graph)) return e;
  const Topology& topology = *comm.topology;
  copy_side(topology.sources, graph->source_weights, graph->weighted, maxindegree, sources, sourceweights);
  copy_side(topology.destinations, graph->destination_weights, graph->weighted, maxoutdegree, destinations,
            destweights);
  return success;
}

}  // namespace heddle::mpi
