// Cartesian topologies: coordinates, shifts, subgrids, and neighborhoods of every shape, where a dimension of one or
// two processes that wraps around is the case that goes wrong elsewhere.
#include <vector>

#include "mpi/check.hpp"

namespace {

using test::check;
using test::equal;

struct Grid {
  MPI_Comm comm = MPI_COMM_NULL;
  std::vector<int> dims, periods, coords;

  Grid(int ndims, std::mt19937& random) : dims(static_cast<std::size_t>(ndims)), periods(dims.size()), coords(dims) {
    MPI_Dims_create(test::size(), ndims, dims.data());
    for (int& wraps : periods) wraps = static_cast<int>(random() % 2);
    MPI_Cart_create(MPI_COMM_WORLD, ndims, dims.data(), periods.data(), 0, &comm);
    MPI_Cart_get(comm, ndims, dims.data(), periods.data(), coords.data());
  }
  ~Grid() { MPI_Comm_free(&comm); }
  int ndims() const { return static_cast<int>(dims.size()); }

  // By the definition: row-major, wrapping where periodic.
  int rank_at(std::size_t dimension, int offset) const {
    std::vector<int> there = coords;
    there[dimension] += offset;
    int rank = 0;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      if (there[d] < 0 || there[d] >= dims[d]) {
        if (!periods[d]) return MPI_PROC_NULL;
        there[d] = ((there[d] % dims[d]) + dims[d]) % dims[d];
      }
      rank = rank * dims[d] + there[d];
    }
    return rank;
  }
};

void inquire(const Grid& grid) {
  int status, ndims, rank;
  MPI_Topo_test(grid.comm, &status);
  equal(status, MPI_CART, "Topo_test");
  MPI_Cartdim_get(grid.comm, &ndims);
  equal(ndims, grid.ndims(), "Cartdim_get");
  MPI_Cart_rank(grid.comm, grid.coords.data(), &rank);
  equal(rank, test::rank(), "Cart_rank of the own coordinates");
  for (int r = 0; r < test::size(); ++r) {
    std::vector<int> coords(grid.dims.size());
    MPI_Cart_coords(grid.comm, r, ndims, coords.data());
    MPI_Cart_rank(grid.comm, coords.data(), &rank);
    equal(rank, r, "coordinates and back");
  }
  for (int d = 0; d < ndims; ++d) {
    for (int shift = -3; shift <= 3; ++shift) {
      int from, to;
      MPI_Cart_shift(grid.comm, d, shift, &from, &to);
      equal(to, grid.rank_at(static_cast<std::size_t>(d), shift), "destination of a shift");
      equal(from, grid.rank_at(static_cast<std::size_t>(d), -shift), "source of a shift");
    }
  }
}

// As if by a MPI_Sendrecv along each direction: block 2d goes to the process before in dimension d and arrives there
// from behind.
void neighborhood(const Grid& grid) {
  const int n = 2 * grid.ndims();
  std::vector<int> out, in(static_cast<std::size_t>(n), -1), expected;
  for (int i = 0; i < n; ++i) out.push_back(100 * test::rank() + i);
  for (std::size_t d = 0; d < grid.dims.size(); ++d) {
    const int before = grid.rank_at(d, -1), behind = grid.rank_at(d, 1);
    const int block = 2 * static_cast<int>(d);
    expected.push_back(before == MPI_PROC_NULL ? -1 : 100 * before + block + 1);
    expected.push_back(behind == MPI_PROC_NULL ? -1 : 100 * behind + block);
  }
  MPI_Neighbor_alltoall(out.data(), 1, MPI_INT, in.data(), 1, MPI_INT, grid.comm);
  for (std::size_t i = 0; i < in.size(); ++i) equal(in[i], expected[i], "block of a neighborhood's alltoall");
}

void subgrids(const Grid& grid) {
  std::vector<int> remain(grid.dims.size());
  for (std::size_t d = 0; d < remain.size(); ++d) remain[d] = d % 2 == 0;
  MPI_Comm sub, dup;
  MPI_Cart_sub(grid.comm, remain.data(), &sub);
  int size, expected = 1, ndims, status;
  for (std::size_t d = 0; d < remain.size(); ++d) expected *= remain[d] ? grid.dims[d] : 1;
  MPI_Comm_size(sub, &size);
  equal(size, expected, "size of a subgrid");
  MPI_Comm_dup(sub, &dup);
  MPI_Topo_test(dup, &status);
  equal(status, MPI_CART, "a duplicate has the topology too");
  MPI_Cartdim_get(dup, &ndims);
  std::vector<int> dims(static_cast<std::size_t>(ndims)), periods(dims), coords(dims);
  MPI_Cart_get(dup, ndims, dims.data(), periods.data(), coords.data());
  for (std::size_t d = 0, kept = 0; d < remain.size(); ++d) {
    if (!remain[d]) continue;
    equal(dims[kept], grid.dims[d], "extent of a subgrid");
    equal(periods[kept], grid.periods[d], "period of a subgrid");
    equal(coords[kept++], grid.coords[d], "coordinate in a subgrid");
  }
  MPI_Comm_free(&dup);
  MPI_Comm_free(&sub);
}

void smaller_than_the_communicator() {
  const int dims[] = {(test::size() + 1) / 2}, periods[] = {0};
  MPI_Comm comm;
  MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 1, &comm);
  check((comm != MPI_COMM_NULL) == (test::rank() < dims[0]), "processes beyond the grid get nothing");
  int place = -1;
  MPI_Cart_map(MPI_COMM_WORLD, 1, dims, periods, &place);
  check((place == MPI_UNDEFINED) == (test::rank() >= dims[0]), "processes beyond the grid have no place");
  // No process belongs to a grid without places, or to one that is too large.
  const int two[] = {0, 0}, none[] = {0}, more[] = {test::size() + 1}, empty[] = {1 << 30, 0},
            huge[] = {1 << 30, 1 << 30};
  for (const int* grid : {none, more}) {
    place = -1;
    MPI_Cart_map(MPI_COMM_WORLD, 1, grid, periods, &place);
    equal(place, MPI_UNDEFINED, "a place in a grid that cannot be");
  }
  for (const int* grid : {two, empty, huge}) {
    place = -1;
    MPI_Cart_map(MPI_COMM_WORLD, 2, grid, two, &place);
    equal(place, MPI_UNDEFINED, "a place in a grid that cannot be");
  }
  MPI_Cart_map(MPI_COMM_WORLD, 0, nullptr, nullptr, &place);
  equal(place, test::rank() == 0 ? 0 : MPI_UNDEFINED, "the place in a grid of no dimensions");
  if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  MPI_Cart_create(MPI_COMM_WORLD, 0, nullptr, nullptr, 0, &comm);
  check((comm != MPI_COMM_NULL) == (test::rank() == 0), "a grid of no dimensions is one process");
  if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
}

void errors() {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm comm = MPI_COMM_WORLD;
  int dims[] = {test::size() + 1}, periods[] = {0}, fixed[] = {2, 0}, ndims;
  check(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &comm) != MPI_SUCCESS, "a grid that is too large");
  check(comm == MPI_COMM_NULL, "a grid that is not made");
  comm = MPI_COMM_WORLD;
  const int index[] = {1}, edges[] = {1};
  check(MPI_Graph_create(MPI_COMM_WORLD, 1, index, edges, 0, &comm) != MPI_SUCCESS,
        "an edge that leads out of the graph");
  check(comm == MPI_COMM_NULL, "a graph that is not made");
  check(MPI_Dims_create(7, 2, fixed) != MPI_SUCCESS, "7 is not a multiple of 2");
  check(MPI_Cartdim_get(MPI_COMM_WORLD, &ndims) != MPI_SUCCESS, "no topology");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

}  // namespace

int main(int argc, char** argv) {
  const test::Session session(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  std::mt19937 random(test::seed(argc, argv));
  for (int ndims = 1; ndims <= 4; ++ndims) {
    for (int round = 0; round < 5; ++round) {
      const Grid grid(ndims, random);
      inquire(grid);
      neighborhood(grid);
      subgrids(grid);
    }
  }
  smaller_than_the_communicator();
  errors();
}
