// Cartesian topologies (MPI 5.0, section 8.5).
#include <algorithm>
#include <memory>

#include "mpi/comm/split.hpp"
#include "objects/binding/impl.hpp"
#include "objects/object/comm.hpp"
#include "objects/object/resolve.hpp"
#include "objects/object/topology.hpp"

namespace heddle {

namespace {

int wrap(int coordinate, int extent) {
  const int rest = coordinate % extent;
  return rest < 0 ? rest + extent : rest;
}

// The topology of the process `rank`. Its neighbors stand in the order of section 8.6: along each dimension first the
// one before it, then the one behind it.
std::shared_ptr<const Topology> make_cart(std::vector<int> dims, std::vector<int> periods, int rank) {
  auto topology = std::make_shared<Topology>();
  Cart cart{std::move(dims), std::move(periods), {}};
  cart.coords.resize(cart.dims.size());
  cart.coords_of(rank, cart.coords.data());
  // Messages that go out backward on channel 0 come in from the front, and the other way round on channel 1.
  for (int d = 0; d < static_cast<int>(cart.dims.size()); ++d) {
    const int before = cart.neighbor(d, -1);
    const int behind = cart.neighbor(d, 1);
    topology->destinations.insert(topology->destinations.end(), {{before, 0}, {behind, 1}});
    topology->sources.insert(topology->sources.end(), {{before, 1}, {behind, 0}});
  }
  topology->shape = std::move(cart);
  return topology;
}

Error cart_of(const Comm& comm, const Cart*& cart) {
  cart = comm.topology ? std::get_if<Cart>(&comm.topology->shape) : nullptr;
  return cart ? success : fail(MPI_ERR_TOPOLOGY, "comm has no Cartesian topology");
}

// The number of processes of a grid; an error if they are more than `available`.
Error count_processes(int ndims, const int dims[], int available, int& processes) {
  long long product = 1;
  for (int d = 0; d < ndims; ++d) {
    if (dims[d] < 1) return fail(MPI_ERR_DIMS, "dims[%d] is %d", d, dims[d]);
    product *= dims[d];
    if (product > available)
      return fail(MPI_ERR_DIMS, "the grid has more processes than the communicator, which has %d", available);
  }
  processes = static_cast<int>(product);
  return success;
}

Error check_room(const Cart& cart, int maxdims) {
  const auto ndims = static_cast<int>(cart.dims.size());
  if (maxdims < ndims) return fail(MPI_ERR_ARG, "maxdims is %d, but the grid has %d dimensions", maxdims, ndims);
  return success;
}

}  // namespace

int Cart::rank_of(const int* coordinates) const {
  int rank = 0;
  for (std::size_t d = 0; d < dims.size(); ++d) rank = rank * dims[d] + coordinates[d];
  return rank;
}

void Cart::coords_of(int rank, int* coordinates) const {
  for (std::size_t d = dims.size(); d-- > 0; rank /= dims[d]) coordinates[d] = rank % dims[d];
}

int Cart::neighbor(int dimension, int displacement) const {
  const auto d = static_cast<std::size_t>(dimension);
  const long long moved = static_cast<long long>(coords[d]) + displacement;
  if (!periods[d] && (moved < 0 || moved >= dims[d])) return MPI_PROC_NULL;
  std::vector<int> there = coords;
  there[d] = wrap(static_cast<int>(moved % dims[d]), dims[d]);
  return rank_of(there.data());
}

namespace mpi {

// Ranks are never reordered: on one machine every process is as near as any other.
Error Cart_create(Comm& comm_old, int ndims, const int dims[], const int periods[], int reorder, MPI_Comm* comm_cart) {
  *comm_cart = MPI_COMM_NULL;
  int processes = 0;
  if (Error e = count_processes(ndims, dims, comm_old.size, processes)) return e;
  Comm* child = nullptr;
  if (Error e = split(comm_old, comm_old.rank < processes ? 0 : MPI_UNDEFINED, comm_old.rank, child)) return e;
  if (!child) return success;
  std::vector<int> wraps(periods, periods + ndims);
  for (int& wrap : wraps) wrap = wrap != 0;
  child->topology = make_cart({dims, dims + ndims}, std::move(wraps), child->rank);
  *comm_cart = handle_of<MPI_Comm>(*child);
  return success;
}

Error Cart_sub(Comm& comm, const int remain_dims[], MPI_Comm* newcomm) {
  const Cart* cart = nullptr;
  if (Error e = cart_of(comm, cart)) return e;
  // The dropped coordinates identify the subgrid, the kept ones the place in it.
  Cart dropped, kept;
  for (std::size_t d = 0; d < cart->dims.size(); ++d) {
    Cart& side = remain_dims[d] ? kept : dropped;
    side.dims.push_back(cart->dims[d]);
    side.periods.push_back(cart->periods[d]);
    side.coords.push_back(cart->coords[d]);
  }
  Comm* child = nullptr;
  const int color = dropped.rank_of(dropped.coords.data());
  if (Error e = split(comm, color, kept.rank_of(kept.coords.data()), child)) return e;
  child->topology = make_cart(std::move(kept.dims), std::move(kept.periods), child->rank);
  *newcomm = handle_of<MPI_Comm>(*child);
  return success;
}

// No process belongs to a grid without places, or to one that the communicator cannot fill: the standard calls neither
// erroneous here, as it does for MPI_Cart_create (MPI 5.0, sections 8.5.1 and 8.5.8).
Error Cart_map(Comm& comm, int ndims, const int dims[], const int periods[], int* newrank) {
  *newrank = MPI_UNDEFINED;
  const int* const negative = std::find_if(dims, dims + ndims, [](int n) { return n < 0; });
  if (negative != dims + ndims) return fail(MPI_ERR_DIMS, "dims[%td] is %d", negative - dims, *negative);
  long long places = std::find(dims, dims + ndims, 0) == dims + ndims ? 1 : 0;
  for (int d = 0; d < ndims && places <= comm.size; ++d) places *= dims[d];
  if (comm.rank < places && places <= comm.size) *newrank = comm.rank;
  return success;
}

Error Cartdim_get(Comm& comm, int* ndims) {
  const Cart* cart = nullptr;
  if (Error e = cart_of(comm, cart)) return e;
  *ndims = static_cast<int>(cart->dims.size());
  return success;
}

Error Cart_get(Comm& comm, int maxdims, int dims[], int periods[], int coords[]) {
  const Cart* cart = nullptr;
  if (Error e = cart_of(comm, cart)) return e;
  if (Error e = check_room(*cart, maxdims)) return e;
  std::copy(cart->dims.begin(), cart->dims.end(), dims);
  std::copy(cart->periods.begin(), cart->periods.end(), periods);
  std::copy(cart->coords.begin(), cart->coords.end(), coords);
  return success;
}

Error Cart_rank(Comm& comm, const int coords[], int* rank) {
  const Cart* cart = nullptr;
  if (Error e = cart_of(comm, cart)) return e;
  std::vector<int> there(cart->dims.size());
  for (std::size_t d = 0; d < there.size(); ++d) {
    const int extent = cart->dims[d];
    if (!cart->periods[d] && (coords[d] < 0 || coords[d] >= extent))
      return fail(MPI_ERR_ARG, "coords[%zu] is %d, but that dimension has %d processes and is not periodic", d,
                  coords[d], extent);
    there[d] = wrap(coords[d], extent);
  }
  *rank = cart->rank_of(there.data());
  return success;
}

Error Cart_coords(Comm& comm, int rank, int maxdims, int coords[]) {
  const Cart* cart = nullptr;
  if (Error e = cart_of(comm, cart)) return e;
  if (Error e = check_room(*cart, maxdims)) return e;
  cart->coords_of(rank, coords);
  return success;
}

Error Cart_shift(Comm& comm, int direction, int disp, int* rank_source, int* rank_dest) {
  const Cart* cart = nullptr;
  if (Error e = cart_of(comm, cart)) return e;
  const auto ndims = static_cast<int>(cart->dims.size());
  if (direction < 0 || direction >= ndims)
    return fail(MPI_ERR_DIMS, "direction is %d, but the grid has %d dimensions", direction, ndims);
  *rank_source = cart->neighbor(direction, -disp);
  *rank_dest = cart->neighbor(direction, disp);
  return success;
}

}  // namespace mpi
}  // namespace heddle
