#include "mpi/fortran/lengths.hpp"

#include "mpi/fortran/arguments.hpp"

namespace heddle::fortran {
namespace {

// In- and outdegree, in any topology.
struct Degrees {
  int in = 0, out = 0;
};

Degrees degrees_of(MPI_Comm comm) {
  Degrees degrees;
  int topology = MPI_UNDEFINED;
  if (MPI_Topo_test(comm, &topology) != MPI_SUCCESS) return degrees;
  if (topology == MPI_DIST_GRAPH) {
    int weighted = 0;
    MPI_Dist_graph_neighbors_count(comm, &degrees.in, &degrees.out, &weighted);
  } else if (topology == MPI_GRAPH) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Graph_neighbors_count(comm, rank, &degrees.in);
    degrees.out = degrees.in;
  } else if (topology == MPI_CART) {
    int count = 0;
    MPI_Cartdim_get(comm, &count);
    degrees.in = degrees.out = 2 * count;
  }
  return degrees;
}

}  // namespace

std::ptrdiff_t dimensions(const Fint* comm) {
  int count = 0;
  return MPI_Cartdim_get(handle<MPI_Comm>(*comm), &count) == MPI_SUCCESS ? count : 0;
}

std::ptrdiff_t peers(const Fint* comm) {
  const auto c_comm = handle<MPI_Comm>(*comm);
  int is_inter = 0, size = 0;
  if (MPI_Comm_test_inter(c_comm, &is_inter) != MPI_SUCCESS) return 0;
  const int code = is_inter ? MPI_Comm_remote_size(c_comm, &size) : MPI_Comm_size(c_comm, &size);
  return code == MPI_SUCCESS ? size : 0;
}

std::ptrdiff_t sources(const Fint* comm) { return degrees_of(handle<MPI_Comm>(*comm)).in; }
std::ptrdiff_t targets(const Fint* comm) { return degrees_of(handle<MPI_Comm>(*comm)).out; }

std::ptrdiff_t last(const Fint* index, const Fint* size) {
  const int n = integer(size);
  return n > 0 ? to_int(index[n - 1]) : 0;
}

std::ptrdiff_t sum(const Fint* degrees, const Fint* size) {
  std::ptrdiff_t total = 0;
  for (int i = 0, n = integer(size); i < n; ++i) total += to_int(degrees[i]);
  return total;
}

}  // namespace heddle::fortran
