// A process topology (MPI 5.0, chapter 8): the neighbors of a communicator's processes.
//
// Immutable once made, so a duplicate of the communicator shares it.
#pragma once

#include <mpi.h>

#include <variant>
#include <vector>

namespace heddle {

// One edge of this process, as the neighborhood collectives (section 8.6) use it. An outgoing edge of one process
// and an incoming edge of another belong together if their channels are equal; among edges between the same two
// processes on the same channel the order decides: the first outgoing one is the first incoming one.
//
// Channels are there for periodic Cartesian dimensions of one or two processes, where the neighbor on the left is
// the neighbor on the right too: what goes out to the left must come in from the right.
struct Neighbor {
  int rank;  // in the communicator; MPI_PROC_NULL beyond the edge of a Cartesian grid: its block is not used
  int channel;
};

struct Cart {
  std::vector<int> dims;
  std::vector<int> periods;  // 1 where the dimension wraps around
  std::vector<int> coords;   // of this process

  int rank_of(const int* coordinates) const;  // each is in range
  void coords_of(int rank, int* coordinates) const;
  // The process `displacement` steps along `dimension` from here, or MPI_PROC_NULL.
  int neighbor(int dimension, int displacement) const;
};

struct Graph {
  std::vector<int> index;  // as given to MPI_Graph_create
  std::vector<int> edges;
};

struct DistGraph {
  bool weighted;
  std::vector<int> source_weights;
  std::vector<int> destination_weights;
};

struct Topology {
  std::variant<Cart, Graph, DistGraph> shape;
  std::vector<Neighbor> sources;       // in the order of a neighborhood collective's receive blocks
  std::vector<Neighbor> destinations;  // in the order of its send blocks
};

}  // namespace heddle
