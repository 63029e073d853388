! The three interfaces in units of one file, in which a global name may have one declaration; and what they have in common: the types
! of mpi_f08 with their operators are those of the module mpi, too (MPI 5.0, section 19.1.3).
module handles
  use mpi
  implicit none
contains
  subroutine from_integers(comm, request, type, status)
    type(MPI_Comm), intent(out) :: comm
    type(MPI_Request), intent(out) :: request
    type(MPI_Datatype), intent(out) :: type
    type(MPI_Status), intent(out) :: status
    integer :: e, statuses(MPI_STATUS_SIZE)
    comm%MPI_VAL = MPI_COMM_WORLD
    request%MPI_VAL = MPI_REQUEST_NULL
    type = MPI_Datatype(MPI_INTEGER)
    call MPI_Probe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, e)
    call MPI_Probe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, statuses, e)
    call MPI_Status_f2f08(statuses, status, e)
    if (comm /= comm .or. .not. type == type) print "(a)", "operators of the module mpi are wrong"
  end subroutine
end module

subroutine with_f08(good)
  use mpi_f08
  use handles, only: from_integers
  implicit none
  logical, intent(out) :: good
  type(MPI_Comm) :: comm
  type(MPI_Request) :: request
  type(MPI_Datatype) :: type
  type(MPI_Status) :: status
  call from_integers(comm, request, type, status)
  good = comm == MPI_COMM_WORLD .and. comm /= MPI_COMM_SELF .and. request == MPI_REQUEST_NULL
  good = good .and. type == MPI_INTEGER .and. status%MPI_SOURCE == MPI_PROC_NULL
  call MPI_Probe(MPI_PROC_NULL, 0, comm, MPI_STATUS_IGNORE)
end subroutine

subroutine with_mpif(good)
  implicit none
  include "mpif.h"
  logical, intent(out) :: good
  integer e
  call MPI_Probe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, e)
  good = e == MPI_SUCCESS
end subroutine

program one_file
  use, intrinsic :: iso_c_binding, only: c_loc, c_associated, c_ptr
  use mpi, only: MPI_STATUS_SIZE, MPI_BUFFER_AUTOMATIC
  use mpi_f08
  implicit none
  logical :: f08, mpif
  integer :: size
  type(c_ptr) :: at
  call MPI_Init()
  call with_f08(f08)
  call with_mpif(mpif)
  call MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0)
  call MPI_Buffer_detach(at, size)
  ! What has been attached (section 3.6), which is why it is a TARGET.
  if (f08 .and. mpif .and. c_associated(at, c_loc(MPI_BUFFER_AUTOMATIC))) print "(a)", "one_file: right"
  call MPI_Finalize()
end program
