! The least that a program does: one array section to the neighbour, one reduction.
program first
  use mpi_f08
  implicit none
  integer :: rank, size, a(10, 10), b(10, 10), i, total
  type(MPI_Status) :: status
  type(MPI_Request) :: request
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  a = reshape([(i, i=1, 100)], [10, 10]) + 1000 * rank
  b = -1
  call MPI_Irecv(b(1:10:3, 2:10:4), 12, MPI_INTEGER, modulo(rank - 1, size), 7, MPI_COMM_WORLD, request)
  call MPI_Send(a(::3, 2::4), 12, MPI_INTEGER, modulo(rank + 1, size), 7, MPI_COMM_WORLD)
  call MPI_Wait(request, status)
  if (any(b(::3, 2::4) /= a(::3, 2::4) - 1000 * rank + 1000 * modulo(rank - 1, size))) error stop "the section is wrong"
  if (count(b == -1) /= 88) error stop "more than the section was written"
  if (status%MPI_SOURCE /= modulo(rank - 1, size) .or. status%MPI_TAG /= 7) error stop "the status is wrong"
  call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  if (total /= size * (size - 1) / 2) error stop "the sum is wrong"
  call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD)
  if (total /= size * (size - 1) / 2) error stop "the maximum is wrong"
  if (rank == 0) print '(a)', "first: right"
  call MPI_Finalize()
end program
