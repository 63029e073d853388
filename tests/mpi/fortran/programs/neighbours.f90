! Topologies of each kind, and collective operations over neighbours.
program neighbours
  @use
  use checks
  implicit none
  @include
  integer, parameter :: bytes = storage_size(0) / 8
  integer :: e, i, j, rank, size, n, source, dest, dims(2), coords(2), got(2), degree, kind_of, into, out
  integer, allocatable :: index(:), edges(:), got_index(:), got_edges(:)
  integer :: sources(2), targets(2), weights(2), more_weights(2), mine(4), all(4), degrees(1)
  integer(@K) :: one, ones(2)
  integer(@P) :: places(2)
  integer(MPI_ADDRESS_KIND) :: distances(2)
  @Datatype :: types(2)
  logical :: periods(2), was(2), keep(2), weighted
  @Comm :: cart, sub, graph, dist
  @Request :: request

  call MPI_Init(e)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, e)
  call MPI_Comm_size(MPI_COMM_WORLD, size, e)
  dims = [0, 1]
  call MPI_Dims_create(size, 2, dims, e)
  call check(dims(1) == size .and. dims(2) == 1, "MPI_Dims_create")
  periods = [.true., .false.]
  call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, .false., cart, e)
  call ok(e, "MPI_Cart_create")
  call MPI_Topo_test(cart, kind_of, e)
  call check(kind_of == MPI_CART, "the topology of a grid")
  call MPI_Cartdim_get(cart, n, e)
  call check(n == 2, "the dimensions of a grid")
  call MPI_Cart_get(cart, 2, got, was, coords, e)
  call check(all_equal(got, dims) .and. was(1) .and. .not. was(2), "the sizes of a grid")
  call check(coords(1) == rank .and. coords(2) == 0, "the own place in a grid")
  call MPI_Cart_rank(cart, coords, n, e)
  call check(n == rank, "the rank of a place in a grid")
  call MPI_Cart_coords(cart, size - 1, 2, got, e)
  call check(got(1) == size - 1 .and. got(2) == 0, "the place of a rank in a grid")
  call MPI_Cart_shift(cart, 0, 1, source, dest, e)
  call check(source == modulo(rank - 1, size) .and. dest == modulo(rank + 1, size), "the neighbours in a ring")
  call MPI_Cart_shift(cart, 1, 1, source, dest, e)
  call check(source == MPI_PROC_NULL .and. dest == MPI_PROC_NULL, "the neighbours across the edge")
  keep = [.true., .false.]
  call MPI_Cart_sub(cart, keep, sub, e)
  call MPI_Cartdim_get(sub, n, e)
  call check(n == 1, "the dimensions of a part of a grid")
  call MPI_Comm_free(sub, e)
  call MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, n, e)
  call check(n >= 0 .and. n < size, "MPI_Cart_map")

  ! A graph: each is the neighbour of the next.
  allocate (index(size), edges(size), got_index(size), got_edges(size))
  index = [(i, i = 1, size)]
  edges = [(modulo(i, size), i = 1, size)]
  call MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, .false., graph, e)
  call ok(e, "MPI_Graph_create")
  call MPI_Graphdims_get(graph, n, i, e)
  call check(n == size .and. i == size, "the size of a graph")
  call MPI_Graph_get(graph, size, size, got_index, got_edges, e)
  call check(all_equal(got_index, index) .and. all_equal(got_edges, edges), "a graph")
  call MPI_Graph_neighbors_count(graph, rank, n, e)
  call check(n == 1, "the number of neighbours in a graph")
  call MPI_Graph_neighbors(graph, rank, 1, got, e)
  call check(got(1) == modulo(rank + 1, size), "the neighbour in a graph")
  call MPI_Graph_map(MPI_COMM_WORLD, size, index, edges, n, e)
  call check(n >= 0 .and. n < size, "MPI_Graph_map")
  call MPI_Comm_free(graph, e)

  ! From the one before to the one after, twice, with weights and without.
  sources = modulo(rank - 1, size)
  targets = modulo(rank + 1, size)
  weights = [3, 4]
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, sources, weights, 2, targets, weights, MPI_INFO_NULL, .false., dist, e)
  call ok(e, "MPI_Dist_graph_create_adjacent")
  call MPI_Dist_graph_neighbors_count(dist, into, out, weighted, e)
  call check(into == 2 .and. out == 2 .and. weighted, "the numbers of neighbours")
  got = 0
  more_weights = 0
  call MPI_Dist_graph_neighbors(dist, 2, got, weights, 2, coords, more_weights, e)
  call check(all_equal(got, sources) .and. all_equal(coords, targets), "the neighbours")
  call check(all_equal(weights, [3, 4]) .and. all_equal(more_weights, [3, 4]), "the weights")
  call MPI_Comm_free(dist, e)
  degrees = 2
  call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, [rank], degrees, targets, MPI_UNWEIGHTED, MPI_INFO_NULL, .false., dist, e)
  call ok(e, "MPI_Dist_graph_create")
  call MPI_Dist_graph_neighbors_count(dist, into, out, weighted, e)
  call check(into == 2 .and. out == 2 .and. .not. weighted, "the numbers of neighbours without weights")
  call MPI_Dist_graph_neighbors(dist, 2, got, MPI_UNWEIGHTED, 2, coords, MPI_UNWEIGHTED, e)
  call check(all_equal(got, sources) .and. all_equal(coords, targets), "the neighbours without weights")
  call MPI_Comm_free(dist, e)
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, sources, MPI_WEIGHTS_EMPTY, 0, targets, MPI_WEIGHTS_EMPTY, &
                                      MPI_INFO_NULL, .false., dist, e)
  call ok(e, "MPI_Dist_graph_create_adjacent without neighbours")
  call MPI_Comm_free(dist, e)
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, sources, MPI_UNWEIGHTED, 2, targets, MPI_UNWEIGHTED, MPI_INFO_NULL, &
                                      .false., dist, e)
  call ok(e, "MPI_Dist_graph_create_adjacent without weights")

  ! Over them: what is first goes to whom is first.
  one = 1
  ones = 1
  places = [1, 0]
  distances = [bytes, 0]
  types = MPI_INTEGER
  @each_form "call fill()", "call same([mine_of(1), mine_of(1)])"
    MPI_Neighbor_allgather(mine, one, MPI_INTEGER, all, one, MPI_INTEGER, dist)
  @end_form
  @each_form "call fill()", "call same([mine_of(1), mine_of(1)])"
    MPI_Neighbor_allgatherv(mine, one, MPI_INTEGER, all, ones, places, MPI_INTEGER, dist)
  @end_form
  @each_form "call fill()", "call same([mine_of(1), mine_of(2)])"
    MPI_Neighbor_alltoall(mine, one, MPI_INTEGER, all, one, MPI_INTEGER, dist)
  @end_form
  @each_form "call fill()", "call same([mine_of(2), mine_of(1)])"
    MPI_Neighbor_alltoallv(mine, ones, int([0, 1], @P), MPI_INTEGER, all, ones, places, MPI_INTEGER, dist)
  @end_form
  @each_form "call fill()", "call same([mine_of(2), mine_of(1)])"
    MPI_Neighbor_alltoallw(mine, ones, int([0, bytes], MPI_ADDRESS_KIND), types, all, ones, distances, types, dist)
  @end_form
  call MPI_Comm_free(dist, e)
  call MPI_Comm_free(cart, e)
  call MPI_Finalize(e)
  @end neighbours
contains

  logical function all_equal(a, b)
    integer, intent(in) :: a(:), b(:)
    all_equal = sum(abs(a - b)) == 0
  end function

  subroutine fill()
    mine = 10 * rank + [1, 2, 3, 4]
    all = -1
  end subroutine

  integer function mine_of(place)
    integer, intent(in) :: place
    mine_of = 10 * modulo(rank - 1, size) + place
  end function

  subroutine same(expected)
    integer, intent(in) :: expected(2)
    call check(all_equal(all(:2), expected) .and. all(3) == -1, "what came from the neighbours")
  end subroutine
end program
