! What only mpi_f08 has: ierror left out, large counts by overloading, callbacks with large counts, statuses and handles as types,
! sentinels that are told apart, and threads.
module large_called
  use, intrinsic :: iso_c_binding
  use mpi_f08
  use checks
  implicit none
  integer :: converted = 0
contains

  subroutine add(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer(MPI_COUNT_KIND) :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: in(:), inout(:)
    call c_f_pointer(invec, in, [len])
    call c_f_pointer(inoutvec, inout, [len])
    call check(datatype == MPI_INTEGER, "the datatype of an operation with large counts")
    inout = in + inout + 1
  end subroutine

  subroutine convert(userbuf, datatype, count, filebuf, position, extra_state, ierror)
    type(c_ptr), value :: userbuf, filebuf
    type(MPI_Datatype) :: datatype
    integer(MPI_COUNT_KIND) :: count
    integer(MPI_OFFSET_KIND) :: position
    integer(MPI_ADDRESS_KIND) :: extra_state
    integer :: ierror
    integer, pointer :: user(:), file(:)
    call c_f_pointer(userbuf, user, [position + count])
    call c_f_pointer(filebuf, file, [count])
    converted = converted + 1
    if (extra_state /= 4) ierror = MPI_ERR_CONVERSION
    file = not(user(position + 1:))
  end subroutine

  subroutine convert_back(userbuf, datatype, count, filebuf, position, extra_state, ierror)
    type(c_ptr), value :: userbuf, filebuf
    type(MPI_Datatype) :: datatype
    integer(MPI_COUNT_KIND) :: count
    integer(MPI_OFFSET_KIND) :: position
    integer(MPI_ADDRESS_KIND) :: extra_state
    integer :: ierror
    integer, pointer :: user(:), file(:)
    call c_f_pointer(userbuf, user, [position + count])
    call c_f_pointer(filebuf, file, [count])
    user(position + 1:) = not(file)
  end subroutine

  subroutine extent_of(datatype, extent, extra_state, ierror)
    type(MPI_Datatype) :: datatype
    integer(MPI_ADDRESS_KIND) :: extent, extra_state
    integer :: ierror
    extent = storage_size(0) / 8
  end subroutine
end module

program modern
  use, intrinsic :: iso_c_binding
  use large_called
  use omp_lib
  implicit none
  integer, parameter :: threads = 4
  integer :: i, rank, size, provided, numbers(3), sums(3), old(MPI_STATUS_SIZE), bytes, sent(threads), got(threads), wrong
  integer(MPI_COUNT_KIND) :: large
  integer(MPI_ADDRESS_KIND) :: at
  logical :: flag
  character(len=60) :: name
  type(MPI_Op) :: op
  type(MPI_Comm) :: comm
  type(MPI_Datatype) :: datatype
  type(MPI_Request) :: request
  type(MPI_Status) :: status, several(2)
  type(MPI_File) :: file
  type(MPI_Errhandler) :: handler

  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  call check(MPI_SUBARRAYS_SUPPORTED .and. MPI_ASYNC_PROTECTS_NONBLOCKING, "what mpi_f08 promises")

  ! Large counts for the same names.
  large = 3
  call MPI_Op_create_c(add, .true., op)
  numbers = [1, 2, rank]
  call MPI_Allreduce(numbers, sums, large, MPI_INTEGER, op, MPI_COMM_WORLD)
  call check(sums(1) == 2 * size - 1 .and. sums(2) == 3 * size - 1, "an operation with large counts")
  call MPI_Op_free(op)
  call MPI_Type_contiguous(3000000000_MPI_COUNT_KIND, MPI_BYTE, datatype)
  call MPI_Type_size(datatype, large)
  call check(large == 3000000000_MPI_COUNT_KIND, "the size of a large datatype")
  if (storage_size(0) == 32) then
    call MPI_Type_size(datatype, i)
    call check(i == MPI_UNDEFINED, "the size of a large datatype as an integer")
  end if
  call MPI_Type_free(datatype)

  call MPI_Register_datarep_c("inverted", convert_back, convert, extent_of, 4_MPI_ADDRESS_KIND)
  call MPI_Register_datarep_c("as it is", MPI_CONVERSION_FN_NULL_C, MPI_CONVERSION_FN_NULL_C, extent_of, 4_MPI_ADDRESS_KIND)
  call get_environment_variable("FORTRAN_TEST_FILE", name)
  call MPI_File_open(MPI_COMM_SELF, trim(name) // achar(ichar("0") + rank), &
                     MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, file)
  call MPI_File_set_view(file, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, "inverted", MPI_INFO_NULL)
  call MPI_File_write_at(file, 0_MPI_OFFSET_KIND, numbers, 3, MPI_INTEGER, MPI_STATUS_IGNORE)
  call MPI_File_read_at(file, 0_MPI_OFFSET_KIND, sums, 3, MPI_INTEGER, MPI_STATUS_IGNORE)
  call check(all(sums == numbers) .and. converted > 0, "a conversion with large counts")
  call MPI_File_set_view(file, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, "native", MPI_INFO_NULL)
  call MPI_File_read_at(file, 0_MPI_OFFSET_KIND, sums, 3, MPI_INTEGER, MPI_STATUS_IGNORE)
  call check(all(sums == not(numbers)), "a conversion with large counts, in the file")
  call MPI_File_close(file)

  ! Statuses as a type and as an array, and as C has them.
  call MPI_Sendrecv(numbers, 2, MPI_INTEGER, 0, 5, sums, 3, MPI_INTEGER, 0, 5, MPI_COMM_SELF, status)
  call MPI_Status_f082f(status, old)
  call check(old(MPI_SOURCE) == 0 .and. old(MPI_TAG) == 5, "a status as an array")
  call MPI_Isendrecv(numbers, 2, MPI_INTEGER, 0, 7, sums, 3, MPI_INTEGER, 0, 7, MPI_COMM_SELF, request)
  call MPI_Wait(request, several(1))
  call check(several(1)%MPI_TAG == 7, "the status of MPI_Isendrecv")
  old(MPI_TAG) = 6
  call MPI_Status_f2f08(old, several(2))
  call MPI_Get_count(several(2), MPI_INTEGER, i)
  call check(several(2)%MPI_TAG == 6 .and. i == 2, "a status as a type")

  ! Handles hold the number that mpif.h has.
  comm%MPI_VAL = MPI_COMM_SELF%MPI_VAL
  call MPI_Comm_size(comm, i)
  call check(i == 1 .and. comm == MPI_COMM_SELF .and. comm /= MPI_COMM_WORLD, "a handle made of its number")
  call MPI_Comm_get_errhandler(MPI_COMM_WORLD, handler)
  call check(handler == MPI_ERRORS_ARE_FATAL .or. handler == MPI_ERRORS_ABORT, "the error handler that is there at first")

  ! Sentinels.
  call MPI_Get_address(MPI_BOTTOM, at)
  call check(at == 0, "the address of MPI_BOTTOM")
  call MPI_Get_address(numbers, at)
  call MPI_Type_create_hindexed_block(1, 3, [at], MPI_INTEGER, datatype)
  call MPI_Type_commit(datatype)
  numbers = [7, 8, 9]
  call MPI_F_sync_reg(numbers)
  sums = 0
  call MPI_Sendrecv(MPI_BOTTOM, 1, datatype, 0, 1, sums, 3, MPI_INTEGER, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE)
  call check(all(sums == [7, 8, 9]), "a message from MPI_BOTTOM")
  numbers = 0
  call MPI_F_sync_reg(numbers)
  call MPI_Irecv(MPI_BOTTOM, 1, datatype, 0, 2, MPI_COMM_SELF, request)
  call MPI_Send(sums, 3, MPI_INTEGER, 0, 2, MPI_COMM_SELF)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call MPI_F_sync_reg(numbers)
  call check(all(numbers == [7, 8, 9]), "a message to MPI_BOTTOM")
  call MPI_Type_free(datatype)
  call MPI_Sizeof(numbers(::2), bytes)
  call check(bytes == storage_size(0) / 8, "MPI_Sizeof")
  call PMPI_Comm_size(MPI_COMM_WORLD, i)
  call check(i == size, "the profiling interface")
  call MPI_Initialized(flag)
  call check(flag, "MPI_Initialized without ierror")

  ! Threads, each with a tag of its own.
  wrong = 0
  sent = [(100 * rank + i, i = 1, threads)]
  got = 0
  if (provided == MPI_THREAD_MULTIPLE) then
    call omp_set_dynamic(.false.)
    !$omp parallel num_threads(threads) private(i, status) reduction(+:wrong)
    i = omp_get_thread_num() + 1
    call MPI_Sendrecv(sent(i), 1, MPI_INTEGER, modulo(rank + 1, size), i, got(i), 1, MPI_INTEGER, &
                      modulo(rank - 1, size), i, MPI_COMM_WORLD, status)
    if (got(i) /= 100 * modulo(rank - 1, size) + i .or. status%MPI_TAG /= i) wrong = wrong + 1
    !$omp end parallel
    call check(wrong == 0 .and. got(threads) /= 0, "messages of threads")
  end if
  call MPI_Finalize()
  @end modern
end program
