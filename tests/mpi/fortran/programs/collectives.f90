! Every collective operation, in each of its three forms: over when it returns, begun and waited for, and persistent. What the
! forms have in common stands once, and the three calls are made from it.
program collectives
  @use
  use checks
  implicit none
  @include
  integer :: e, i, rank, size
  integer, parameter :: bytes = storage_size(0) / 8
  integer, allocatable :: mine(:), all(:), expected(:)
  integer(@K), allocatable :: counts(:), twos(:), ones(:)
  integer(@P), allocatable :: places(:)
  integer(@P), allocatable :: bytes_in(:), bytes_out(:)
  @Datatype, allocatable :: types(:)
  integer(@K) :: n
  logical :: flag
  @Request :: request
  @Comm :: comm

  call MPI_Init(e)
  comm = MPI_COMM_WORLD
  call MPI_Comm_rank(comm, rank, e)
  call MPI_Comm_size(comm, size, e)
  allocate (mine(2 * size), all(2 * size), expected(2 * size))
  allocate (counts(size), twos(size), ones(size), places(size), bytes_in(size), bytes_out(size), types(size))
  n = 2
  twos = 2
  ones = 1
  places = [(2 * (size - 1 - i), i = 0, size - 1)]  ! the last first
  bytes_in = [(2 * bytes * i, i = 0, size - 1)]
  bytes_out = places * bytes
  types = MPI_INTEGER

  @each_form "", ""
    MPI_Barrier(comm)
  @end_form

  call fill()
  expected = all
  expected(:2) = [1, 2]
  @each_form "call fill()", "call same()"
    MPI_Bcast(mine, n, MPI_INTEGER, 0, comm)
  @end_form

  ! expected: what all have, in order, and in the order of places.
  expected = [(100 * ((i - 1) / 2) + 1 + modulo(i - 1, 2), i = 1, 2 * size)]
  @each_form "call fill()", "call same_all()"
    MPI_Allgather(mine, n, MPI_INTEGER, all, n, MPI_INTEGER, comm)
  @end_form
  @each_form "call fill()", "call same_at_root()"
    MPI_Gather(mine, n, MPI_INTEGER, all, n, MPI_INTEGER, 0, comm)
  @end_form
  expected = [(100 * ((2 * size - i) / 2) + 1 + modulo(i - 1, 2), i = 1, 2 * size)]
  @each_form "call fill()", "call same_all()"
    MPI_Allgatherv(mine, n, MPI_INTEGER, all, twos, places, MPI_INTEGER, comm)
  @end_form
  @each_form "call fill()", "call same_at_root()"
    MPI_Gatherv(mine, n, MPI_INTEGER, all, twos, places, MPI_INTEGER, 0, comm)
  @end_form

  expected(:2) = [2 * rank + 1, 2 * rank + 2]
  @each_form "call fill()", "call first_two()"
    MPI_Scatter(mine, n, MPI_INTEGER, all, n, MPI_INTEGER, 0, comm)
  @end_form
  expected(:2) = [2 * (size - 1 - rank) + 1, 2 * (size - 1 - rank) + 2]
  @each_form "call fill()", "call first_two()"
    MPI_Scatterv(mine, twos, places, MPI_INTEGER, all, n, MPI_INTEGER, 0, comm)
  @end_form

  expected = [(100 * ((i - 1) / 2) + 2 * rank + 1 + modulo(i - 1, 2), i = 1, 2 * size)]
  @each_form "call fill()", "call same_all()"
    MPI_Alltoall(mine, n, MPI_INTEGER, all, n, MPI_INTEGER, comm)
  @end_form
  expected = [(100 * ((2 * size - i) / 2) + 2 * rank + 1 + modulo(i - 1, 2), i = 1, 2 * size)]
  @each_form "call fill()", "call same_all()"
    MPI_Alltoallv(mine, twos, bytes_in / bytes, MPI_INTEGER, all, twos, places, MPI_INTEGER, comm)
  @end_form
  @each_form "call fill()", "call same_all()"
    MPI_Alltoallw(mine, twos, bytes_in, types, all, twos, bytes_out, types, comm)
  @end_form

  ! expected: the sum over the ranks.
  expected = [(50 * size * (size - 1) + size * i, i = 1, 2 * size)]
  @each_form "call fill()", "call first_two_at_root()"
    MPI_Reduce(mine, all, n, MPI_INTEGER, MPI_SUM, 0, comm)
  @end_form
  @each_form "call fill()", "call first_two()"
    MPI_Allreduce(mine, all, n, MPI_INTEGER, MPI_SUM, comm)
  @end_form
  @each_form "call fill()", "call first_two_of_mine()"
    MPI_Allreduce(MPI_IN_PLACE, mine, n, MPI_INTEGER, MPI_SUM, comm)
  @end_form
  expected(:2) = expected(2 * rank + 1:2 * rank + 2)
  @each_form "call fill()", "call first_two()"
    MPI_Reduce_scatter(mine, all, twos, MPI_INTEGER, MPI_SUM, comm)
  @end_form
  @each_form "call fill()", "call first_two()"
    MPI_Reduce_scatter_block(mine, all, n, MPI_INTEGER, MPI_SUM, comm)
  @end_form
  expected(:2) = [(50 * rank * (rank + 1) + (rank + 1) * i, i = 1, 2)]
  @each_form "call fill()", "call first_two()"
    MPI_Scan(mine, all, n, MPI_INTEGER, MPI_SUM, comm)
  @end_form
  expected(:2) = [(50 * rank * (rank - 1) + rank * i, i = 1, 2)]
  @each_form "call fill()", "if (rank > 0) call first_two()"
    MPI_Exscan(mine, all, n, MPI_INTEGER, MPI_SUM, comm)
  @end_form

  call fill()
  all(:2) = 5
  call MPI_Reduce_local(mine, all, n, MPI_INTEGER, MPI_PROD, e)
  call ok(e, "MPI_Reduce_local")
  call check(all(1) == 5 * mine(1) .and. all(2) == 5 * mine(2), "MPI_Reduce_local")
  call MPI_Op_commutative(MPI_MAX, flag, e)
  call check(flag, "MPI_Op_commutative")
  call MPI_Finalize(e)
  @end collectives
contains

  subroutine fill()
    mine = [(100 * rank + i, i = 1, 2 * size)]
    all = -1
  end subroutine

  subroutine same()
    call check(mine(1) == expected(1) .and. mine(2) == expected(2), "what came from the root")
  end subroutine

  subroutine same_all()
    call check(maxval(abs(all - expected)) == 0, "what came from all")
  end subroutine

  subroutine same_at_root()
    if (rank == 0) call same_all()
  end subroutine

  subroutine first_two()
    call check(all(1) == expected(1) .and. all(2) == expected(2), "the two that came")
  end subroutine

  subroutine first_two_at_root()
    if (rank == 0) call first_two()
  end subroutine

  subroutine first_two_of_mine()
    call check(mine(1) == expected(1) .and. mine(2) == expected(2), "the two that came in place")
  end subroutine
end program
