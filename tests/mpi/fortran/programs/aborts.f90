! Ends itself: mpiexec says with which code.
program aborts
  @use
  use checks
  implicit none
  @include
  integer :: e
  call MPI_Init(e)
  call MPI_Abort(MPI_COMM_WORLD, 7, e)
  call check(.false., "MPI_Abort returns")
end program
