! Representations of data in files whose conversions are Fortran procedures.
module converting
  @use
  use checks
  implicit none
  @include
  integer(MPI_ADDRESS_KIND), parameter :: state = 12345
  integer :: converted = 0
contains

  ! In the file each integer is one more.
  @if f08
  subroutine read_datarep(userbuf, datatype, count, filebuf, position, extra_state, ierror)
    type(c_ptr), value :: userbuf, filebuf
    integer, pointer :: user(:), file(:)
  @else
  subroutine read_datarep(user, datatype, count, file, position, extra_state, ierror)
    integer :: user(*), file(*)
  @end_if
    @Datatype :: datatype
    integer :: count, ierror
    integer(MPI_OFFSET_KIND) :: position
    integer(MPI_ADDRESS_KIND) :: extra_state
    @if f08
    call c_f_pointer(userbuf, user, [count + int(position)])
    call c_f_pointer(filebuf, file, [count])
    @end_if
    call check(extra_state == state .and. datatype == MPI_INTEGER, "what a conversion to memory gets")
    converted = converted + 1
    user(position + 1:position + count) = file(:count) - 1
    ierror = MPI_SUCCESS
  end subroutine

  @if f08
  subroutine write_datarep(userbuf, datatype, count, filebuf, position, extra_state, ierror)
    type(c_ptr), value :: userbuf, filebuf
    integer, pointer :: user(:), file(:)
  @else
  subroutine write_datarep(user, datatype, count, file, position, extra_state, ierror)
    integer :: user(*), file(*)
  @end_if
    @Datatype :: datatype
    integer :: count, ierror
    integer(MPI_OFFSET_KIND) :: position
    integer(MPI_ADDRESS_KIND) :: extra_state
    @if f08
    call c_f_pointer(userbuf, user, [count + int(position)])
    call c_f_pointer(filebuf, file, [count])
    @end_if
    call check(extra_state == state .and. datatype == MPI_INTEGER, "what a conversion to a file gets")
    converted = converted + 1
    file(:count) = user(position + 1:position + count) + 1
    ierror = MPI_SUCCESS
  end subroutine

  subroutine extent_datarep(datatype, extent, extra_state, ierror)
    @Datatype :: datatype
    integer(MPI_ADDRESS_KIND) :: extent, extra_state
    integer :: ierror
    call check(extra_state == state, "the extra state of an extent function")
    extent = storage_size(0) / 8
    ierror = MPI_SUCCESS
  end subroutine
end module

program datareps
  use converting
  implicit none
  integer :: e, i, rank, numbers(3), sums(3), class
  character(len=60) :: name
  @File :: file
  @Status :: status

  call MPI_Init(e)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, e)
  call get_environment_variable("FORTRAN_TEST_FILE", name)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, e)
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, e)
  call MPI_Register_datarep("one more  ", read_datarep, write_datarep, extent_datarep, state, e)
  call ok(e, "MPI_Register_datarep")
  call MPI_Register_datarep("one more", read_datarep, write_datarep, extent_datarep, state, e)
  call MPI_Error_class(e, class, i)
  call check(class == MPI_ERR_DUP_DATAREP, "a data representation that is there already")
  call MPI_Register_datarep("half of it", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent_datarep, state, e)
  call ok(e, "MPI_Register_datarep with MPI_CONVERSION_FN_NULL")
  call MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, file, e)
  call ok(e, "MPI_File_open")
  call MPI_File_set_view(file, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, "one more", MPI_INFO_NULL, e)
  call ok(e, "MPI_File_set_view")
  numbers = [10, 20, 30] + 100 * rank
  call MPI_File_write_at_all(file, 3_MPI_OFFSET_KIND * rank, numbers, 3, MPI_INTEGER, status, e)
  call ok(e, "MPI_File_write_at_all")
  sums = 0
  call MPI_File_read_at_all(file, 3_MPI_OFFSET_KIND * rank, sums, 3, MPI_INTEGER, status, e)
  call check(sums(1) == numbers(1) .and. sums(3) == numbers(3) .and. converted >= 2, "what was converted and back")
  call MPI_File_set_view(file, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, "native", MPI_INFO_NULL, e)
  call MPI_File_read_at_all(file, 3_MPI_OFFSET_KIND * rank, sums, 3, MPI_INTEGER, status, e)
  call check(sums(1) == numbers(1) + 1 .and. sums(3) == numbers(3) + 1, "what was converted, in the file")
  call MPI_File_close(file, e)
  call MPI_Finalize(e)
  @end datareps
end program
