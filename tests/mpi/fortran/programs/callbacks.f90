! A callback of each kind but those of data representations (datareps.f90), and what MPI passes to it.
module called
  @use
  use checks
  implicit none
  @include
  integer(MPI_ADDRESS_KIND), parameter :: state = 12345
  integer :: copied = 0, removed = 0, handled = 0, last_error = 0, queried = 0, freed = 0, cancelled = 0
contains

  ! a, b -> a + b + 1
  @if f08
  subroutine add(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer, pointer :: in(:), inout(:)
  @else
  subroutine add(in, inout, len, datatype)
    integer :: in(len), inout(len)
  @end_if
    integer :: len
    @Datatype :: datatype
    @if f08
    call c_f_pointer(invec, in, [len])
    call c_f_pointer(inoutvec, inout, [len])
    @end_if
    call check(datatype == MPI_INTEGER, "the datatype of an operation")
    inout = in + inout + 1
  end subroutine

  subroutine copy_comm(oldcomm, comm_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
    @Comm :: oldcomm
    integer :: comm_keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    call copy(extra_state, attribute_val_in, attribute_val_out, flag, ierror)
  end subroutine

  subroutine copy_type(oldtype, type_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
    @Datatype :: oldtype
    integer :: type_keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    call copy(extra_state, attribute_val_in, attribute_val_out, flag, ierror)
  end subroutine

  subroutine copy_win(oldwin, win_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
    @Win :: oldwin
    integer :: win_keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    call copy(extra_state, attribute_val_in, attribute_val_out, flag, ierror)
  end subroutine

  subroutine copy(extra_state, attribute_val_in, attribute_val_out, flag, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    integer :: ierror
    logical :: flag
    copied = copied + 1
    call check(extra_state == state, "the extra state of a copy function")
    attribute_val_out = attribute_val_in + 1
    flag = attribute_val_in > 0
    ierror = MPI_SUCCESS
  end subroutine

  subroutine delete_comm(comm, comm_keyval, attribute_val, extra_state, ierror)
    @Comm :: comm
    integer :: comm_keyval, ierror
    integer(MPI_ADDRESS_KIND) :: attribute_val, extra_state
    call delete(attribute_val, extra_state, ierror)
  end subroutine

  subroutine delete_type(datatype, type_keyval, attribute_val, extra_state, ierror)
    @Datatype :: datatype
    integer :: type_keyval, ierror
    integer(MPI_ADDRESS_KIND) :: attribute_val, extra_state
    call delete(attribute_val, extra_state, ierror)
  end subroutine

  subroutine delete_win(win, win_keyval, attribute_val, extra_state, ierror)
    @Win :: win
    integer :: win_keyval, ierror
    integer(MPI_ADDRESS_KIND) :: attribute_val, extra_state
    call delete(attribute_val, extra_state, ierror)
  end subroutine

  subroutine delete(attribute_val, extra_state, ierror)
    integer(MPI_ADDRESS_KIND) :: attribute_val, extra_state
    integer :: ierror
    removed = removed + 1
    call check(extra_state == state, "the extra state of a delete function")
    ierror = MPI_SUCCESS
    if (attribute_val == 666 .and. removed == 666) ierror = MPI_ERR_OTHER
  end subroutine

  @if f08
  @else
  ! Those of MPI-1.
  subroutine copy_old(oldcomm, keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierr)
    integer :: oldcomm, keyval, extra_state, attribute_val_in, attribute_val_out, ierr
    logical :: flag
    copied = copied + 1
    call check(extra_state == 17, "the extra state of an old copy function")
    attribute_val_out = attribute_val_in - 1
    flag = .true.
    ierr = MPI_SUCCESS
  end subroutine

  subroutine delete_old(comm, keyval, attribute_val, extra_state, ierr)
    integer :: comm, keyval, attribute_val, extra_state, ierr
    removed = removed + 1
    call check(extra_state == 17, "the extra state of an old delete function")
    ierr = MPI_SUCCESS
  end subroutine
  @end_if

  subroutine handle_comm(comm, error_code)
    @Comm :: comm
    integer :: error_code
    call handle(error_code)
  end subroutine

  subroutine handle_win(win, error_code)
    @Win :: win
    integer :: error_code
    call handle(error_code)
  end subroutine

  subroutine handle_file(file, error_code)
    @File :: file
    integer :: error_code
    call handle(error_code)
  end subroutine

  subroutine handle_session(session, error_code)
    @Session :: session
    integer :: error_code
    call handle(error_code)
  end subroutine

  subroutine handle(error_code)
    integer :: error_code, e
    handled = handled + 1
    call MPI_Error_class(error_code, last_error, e)
  end subroutine

  subroutine query(extra_state, status, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    @Status :: status
    integer :: ierror
    queried = queried + 1
    call check(extra_state == state, "the extra state of a query function")
    call MPI_Status_set_elements(status, MPI_INTEGER, 3, ierror)
    call MPI_Status_set_cancelled(status, cancelled > 0, ierror)
    call MPI_Status_set_source(status, 21, ierror)
    call MPI_Status_set_tag(status, 22, ierror)
    ierror = MPI_SUCCESS
  end subroutine

  subroutine release(extra_state, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    integer :: ierror
    freed = freed + 1
    call check(extra_state == state, "the extra state of a free function")
    ierror = MPI_SUCCESS
  end subroutine

  subroutine cancel(extra_state, complete, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    logical :: complete
    integer :: ierror
    if (.not. complete) cancelled = cancelled + 1
    ierror = MPI_SUCCESS
  end subroutine
end module

program callbacks
  use called
  implicit none
  integer :: e, i, rank, size, keyval, numbers(3), sums(3), class, none
  integer(MPI_ADDRESS_KIND) :: value, extent
  logical :: flag
  character(len=60) :: name
  @Op :: op
  @Comm :: comm, copied_comm
  @Datatype :: datatype, copied_type
  @Win :: win
  @File :: file
  @Session :: session
  @Request :: request
  @Status :: status
  @Errhandler :: handler, other

  call MPI_Init(e)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, e)
  call MPI_Comm_size(MPI_COMM_WORLD, size, e)

  ! Operations.
  call MPI_Op_create(add, .true., op, e)
  call ok(e, "MPI_Op_create")
  call MPI_Op_commutative(op, flag, e)
  call check(flag, "an operation that commutes")
  numbers = [rank, 10, 20]
  call MPI_Allreduce(numbers, sums, 3, MPI_INTEGER, op, MPI_COMM_WORLD, e)
  call ok(e, "MPI_Allreduce")
  call check(sums(1) == size * (size - 1) / 2 + size - 1 .and. sums(2) == 11 * size - 1 .and. sums(3) == 21 * size - 1, &
             "the result of an operation")
  sums = 1
  call MPI_Reduce_local(numbers, sums, 3, MPI_INTEGER, op, e)
  call check(sums(2) == 12, "the result of an operation without others")
  call MPI_Op_free(op, e)
  call check(e == MPI_SUCCESS .and. op == MPI_OP_NULL, "an operation that was freed")

  ! Attributes of communicators.
  call MPI_Comm_create_keyval(copy_comm, delete_comm, keyval, state, e)
  call ok(e, "MPI_Comm_create_keyval")
  call MPI_Comm_dup(MPI_COMM_SELF, comm, e)
  call MPI_Comm_get_attr(comm, keyval, value, flag, e)
  call check(.not. flag, "an attribute that is not there")
  call MPI_Comm_set_attr(comm, keyval, 7000000000_MPI_ADDRESS_KIND, e)
  call MPI_Comm_get_attr(comm, keyval, value, flag, e)
  call check(flag .and. value == 7000000000_MPI_ADDRESS_KIND, "an attribute of a communicator")
  call MPI_Comm_dup(comm, copied_comm, e)
  call MPI_Comm_get_attr(copied_comm, keyval, value, flag, e)
  call check(flag .and. value == 7000000001_MPI_ADDRESS_KIND, "an attribute that was copied")
  call MPI_Comm_free(copied_comm, e)
  call MPI_Comm_delete_attr(comm, keyval, e)
  call check(copied == 1 .and. removed == 2, "the calls of the functions of attributes")
  call MPI_Comm_set_attr(comm, keyval, -1_MPI_ADDRESS_KIND, e)
  call MPI_Comm_dup(comm, copied_comm, e)
  call MPI_Comm_get_attr(copied_comm, keyval, value, flag, e)
  call check(.not. flag, "an attribute that the copy function keeps back")
  call MPI_Comm_free(copied_comm, e)
  call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN, e)
  call MPI_Comm_set_attr(comm, keyval, 666_MPI_ADDRESS_KIND, e)
  removed = 665
  call MPI_Comm_delete_attr(comm, keyval, e)
  call check(e /= MPI_SUCCESS, "the error of a delete function is lost")
  call MPI_Comm_set_attr(comm, keyval, 1_MPI_ADDRESS_KIND, e)
  call MPI_Comm_free_keyval(keyval, e)
  call check(e == MPI_SUCCESS .and. keyval == MPI_KEYVAL_INVALID, "a keyval that was freed")
  call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, keyval, state, e)
  call MPI_Comm_set_attr(comm, keyval, 3_MPI_ADDRESS_KIND, e)
  call MPI_Comm_dup(comm, copied_comm, e)
  call MPI_Comm_get_attr(copied_comm, keyval, value, flag, e)
  call check(.not. flag, "an attribute with MPI_COMM_NULL_COPY_FN is copied")
  call MPI_Comm_free(copied_comm, e)
  call MPI_Comm_free_keyval(keyval, e)
  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, keyval, state, e)
  call MPI_Comm_set_attr(comm, keyval, 3_MPI_ADDRESS_KIND, e)
  call MPI_Comm_dup(comm, copied_comm, e)
  call MPI_Comm_get_attr(copied_comm, keyval, value, flag, e)
  call check(flag .and. value == 3, "an attribute with MPI_COMM_DUP_FN")
  call MPI_Comm_free(copied_comm, e)
  call MPI_Comm_free_keyval(keyval, e)
  call MPI_Comm_free(comm, e)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, e)
  call check(flag .and. value >= 32767, "the largest tag")
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, value, flag, e)
  call check(flag .and. value >= 0 .and. value <= 1, "whether clocks agree")

  ! Of datatypes.
  copied = 0
  removed = 0
  call MPI_Type_create_keyval(copy_type, delete_type, keyval, state, e)
  call ok(e, "MPI_Type_create_keyval")
  call MPI_Type_contiguous(2, MPI_INTEGER, datatype, e)
  call MPI_Type_set_attr(datatype, keyval, 5_MPI_ADDRESS_KIND, e)
  call MPI_Type_dup(datatype, copied_type, e)
  call MPI_Type_get_attr(copied_type, keyval, value, flag, e)
  call check(flag .and. value == 6 .and. copied == 1, "an attribute of a datatype that was copied")
  call MPI_Type_delete_attr(copied_type, keyval, e)
  call MPI_Type_free(copied_type, e)
  call MPI_Type_free(datatype, e)
  call check(removed == 2, "the attributes of datatypes that were removed")
  call MPI_Type_free_keyval(keyval, e)
  call MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, keyval, state, e)
  call MPI_Type_free_keyval(keyval, e)
  call MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, keyval, state, e)
  call MPI_Type_free_keyval(keyval, e)

  ! Of windows.
  removed = 0
  call MPI_Win_create_keyval(copy_win, delete_win, keyval, state, e)
  call ok(e, "MPI_Win_create_keyval")
  extent = 3 * storage_size(0) / 8
  call MPI_Win_create(numbers, extent, storage_size(0) / 8, MPI_INFO_NULL, MPI_COMM_SELF, win, e)
  call MPI_Win_set_attr(win, keyval, 8_MPI_ADDRESS_KIND, e)
  call MPI_Win_get_attr(win, keyval, value, flag, e)
  call check(flag .and. value == 8, "an attribute of a window")
  call MPI_Win_delete_attr(win, keyval, e)
  call MPI_Win_set_attr(win, keyval, 9_MPI_ADDRESS_KIND, e)

  ! Error handlers of windows, then of the others.
  call MPI_Win_create_errhandler(handle_win, handler, e)
  call ok(e, "MPI_Win_create_errhandler")
  call MPI_Win_set_errhandler(win, handler, e)
  call MPI_Win_get_errhandler(win, other, e)
  call check(other == handler, "the error handler of a window")
  call MPI_Errhandler_free(other, e)
  call MPI_Win_call_errhandler(win, MPI_ERR_DISP, e)
  call check(handled == 1 .and. last_error == MPI_ERR_DISP, "an error handler of a window")
  call MPI_Errhandler_free(handler, e)
  call check(handler == MPI_ERRHANDLER_NULL, "an error handler that was freed")
  call MPI_Win_free(win, e)
  call check(removed == 2, "the attributes of windows that were removed")
  call MPI_Win_free_keyval(keyval, e)
  call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, keyval, state, e)
  call MPI_Win_free_keyval(keyval, e)
  call MPI_Win_create_keyval(MPI_WIN_DUP_FN, MPI_WIN_NULL_DELETE_FN, keyval, state, e)
  call MPI_Win_free_keyval(keyval, e)

  call MPI_Comm_create_errhandler(handle_comm, handler, e)
  call ok(e, "MPI_Comm_create_errhandler")
  call MPI_Comm_dup(MPI_COMM_SELF, comm, e)
  call MPI_Comm_set_errhandler(comm, handler, e)
  call MPI_Comm_get_errhandler(comm, other, e)
  call check(other == handler, "the error handler of a communicator")
  call MPI_Errhandler_free(other, e)
  call MPI_Errhandler_free(handler, e)
  call MPI_Send(numbers, 1, MPI_INTEGER, 99, 0, comm, e)
  call check(handled == 2 .and. last_error == MPI_ERR_RANK, "an error that a handler is told")
  call MPI_Comm_call_errhandler(comm, MPI_ERR_TAG, e)
  call check(handled == 3 .and. last_error == MPI_ERR_TAG, "an error that a handler is told by the program")
  call MPI_Comm_free(comm, e)

  call MPI_Session_create_errhandler(handle_session, handler, e)
  call ok(e, "MPI_Session_create_errhandler")
  call MPI_Session_init(MPI_INFO_NULL, handler, session, e)
  call MPI_Session_get_errhandler(session, other, e)
  call check(other == handler, "the error handler of a session")
  call MPI_Errhandler_free(other, e)
  call MPI_Session_set_errhandler(session, handler, e)
  call MPI_Session_call_errhandler(session, MPI_ERR_ARG, e)
  call check(handled == 4 .and. last_error == MPI_ERR_ARG, "an error handler of a session")
  call MPI_Errhandler_free(handler, e)
  call MPI_Session_finalize(session, e)

  call MPI_File_create_errhandler(handle_file, handler, e)
  call ok(e, "MPI_File_create_errhandler")
  call MPI_File_set_errhandler(MPI_FILE_NULL, handler, e)
  call ok(e, "MPI_File_set_errhandler")
  call MPI_File_get_errhandler(MPI_FILE_NULL, other, e)
  call check(other == handler, "the error handler of files")
  call MPI_Errhandler_free(other, e)
  call MPI_Errhandler_free(handler, e)
  call get_environment_variable("FORTRAN_TEST_FILE", name)
  call MPI_File_open(MPI_COMM_SELF, trim(name) // "-nowhere/file", MPI_MODE_RDONLY, MPI_INFO_NULL, file, e)
  call check(handled == 5 .and. last_error == MPI_ERR_NO_SUCH_FILE, "an error handler of files")
  call MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_IO, e)
  call check(handled == 6 .and. last_error == MPI_ERR_IO, "an error handler of files that the program calls")
  call MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN, e)

  ! Generalized requests.
  call MPI_Grequest_start(query, release, cancel, state, request, e)
  call ok(e, "MPI_Grequest_start")
  call MPI_Test(request, flag, status, e)
  call check(.not. flag, "a generalized request that nobody has completed")
  call MPI_Grequest_complete(request, e)
  call ok(e, "MPI_Grequest_complete")
  call MPI_Wait(request, status, e)
  call check(queried == 1 .and. freed == 1 .and. cancelled == 0, "the functions of a generalized request")
  call check(@source(status) == 21 .and. @tag(status) == 22, "the status of a generalized request")
  call MPI_Get_count(status, MPI_INTEGER, i, e)
  call check(i == 3, "the count of a generalized request")
  call MPI_Grequest_start(query, release, cancel, state, request, e)
  call MPI_Cancel(request, e)
  call check(cancelled == 1, "a generalized request that is cancelled")
  call MPI_Grequest_complete(request, e)
  call MPI_Wait(request, status, e)
  call MPI_Test_cancelled(status, flag, e)
  call check(flag .and. queried == 2 .and. freed == 2, "a generalized request that was cancelled")

  @if f08
  @else
  ! Attributes of MPI-1.
  copied = 0
  removed = 0
  call MPI_Keyval_create(copy_old, delete_old, keyval, 17, e)
  call ok(e, "MPI_Keyval_create")
  call MPI_Comm_dup(MPI_COMM_SELF, comm, e)
  call MPI_Attr_put(comm, keyval, -4, e)
  call ok(e, "MPI_Attr_put")
  call MPI_Attr_get(comm, keyval, i, flag, e)
  call check(flag .and. i == -4, "an attribute of MPI-1")
  call MPI_Comm_get_attr(comm, keyval, value, flag, e)
  call check(flag .and. value == -4, "an attribute of MPI-1, asked for as one of MPI-2")
  call MPI_Comm_dup(comm, copied_comm, e)
  call MPI_Attr_get(copied_comm, keyval, i, flag, e)
  call check(flag .and. i == -5 .and. copied == 1, "an attribute of MPI-1 that was copied")
  call MPI_Attr_delete(copied_comm, keyval, e)
  call check(e == MPI_SUCCESS .and. removed == 1, "an attribute of MPI-1 that was removed")
  call MPI_Comm_free(copied_comm, e)
  call MPI_Comm_free(comm, e)
  call MPI_Keyval_free(keyval, e)
  call ok(e, "MPI_Keyval_free")
  call MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, keyval, 17, e)
  call MPI_Keyval_free(keyval, e)
  call MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, keyval, 17, e)
  call MPI_Keyval_free(keyval, e)
  @end_if
  call MPI_Finalize(e)
  @end callbacks
end program
