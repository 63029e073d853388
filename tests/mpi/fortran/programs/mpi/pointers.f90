! What the module mpi has beyond mpif.h: addresses as type(c_ptr), the type of a status, the sizes of variables.
program pointers
  @use
  use checks
  implicit none
  @include
  integer :: e, size, unit
  integer(MPI_ADDRESS_KIND) :: extent, asked
  type(c_ptr) :: base, queried
  type(MPI_Status) :: status
  integer :: win, old(MPI_STATUS_SIZE)
  integer, pointer :: numbers(:)
  double precision :: matrix(3, 4)
  character(len=5) :: word, other
  complex :: z

  call MPI_Init(e)
  call MPI_Sizeof(size, unit, e)
  call check(unit == storage_size(size) / 8, "the size of an integer")
  call MPI_Sizeof(matrix, unit, e)
  call check(unit == storage_size(matrix) / 8, "the size of an element of an array")
  call MPI_Sizeof(word, unit, e)
  call check(unit == 5, "the size of characters")
  call MPI_Sizeof(z, unit, e)
  call check(unit == storage_size(z) / 8, "the size of a complex number")
  call PMPI_Sizeof(matrix(:, 2), unit, e)
  call check(unit == storage_size(matrix) / 8, "the size of an element of a section")

  extent = 10 * storage_size(size) / 8
  call MPI_Alloc_mem(extent, MPI_INFO_NULL, base, e)
  call ok(e, "MPI_Alloc_mem")
  call fill(base)
  call c_f_pointer(base, numbers, [10])
  call MPI_Free_mem(numbers, e)
  call MPI_Win_allocate(extent, 1, MPI_INFO_NULL, MPI_COMM_SELF, base, win, e)
  call ok(e, "MPI_Win_allocate")
  call fill(base)
  call MPI_Win_free(win, e)
  call MPI_Win_allocate_shared(extent, 1, MPI_INFO_NULL, MPI_COMM_SELF, base, win, e)
  call ok(e, "MPI_Win_allocate_shared")
  call fill(base)
  asked = 0
  call MPI_Win_shared_query(win, 0, asked, unit, queried, e)
  call check(asked == extent .and. unit == 1, "MPI_Win_shared_query")
  call c_f_pointer(queried, numbers, [10])
  call check(sum(numbers) == 30, "what is where MPI_Win_shared_query says")
  call MPI_Win_free(win, e)

  call MPI_Sendrecv(word, 4, MPI_CHARACTER, 0, 3, other, 5, MPI_CHARACTER, 0, 3, MPI_COMM_SELF, old, e)
  call MPI_Status_f2f08(old, status, e)
  call check(status%MPI_TAG == 3 .and. status%MPI_SOURCE == 0, "a status as a type")
  old = 0
  call MPI_Status_f082f(status, old, e)
  call check(old(MPI_TAG) == 3, "a status as an array")
  call MPI_Get_count(old, MPI_CHARACTER, size, e)
  call check(size == 4, "the count of a status that was converted")
  call MPI_Finalize(e)
  @end pointers
contains

  subroutine fill(base)
    type(c_ptr), intent(in) :: base
    integer, pointer :: numbers(:)
    call c_f_pointer(base, numbers, [10])
    numbers = 3
    call check(sum(numbers) == 30, "memory that MPI has allocated")
  end subroutine
end program
