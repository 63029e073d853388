! Versions, names, times, error classes, addresses: what depends on no communicator.
program env
  @use
  use checks
  implicit none
  @include
  integer :: e, i, major, minor, length, class, code, provided, hw_keys, logical_size
  integer(MPI_ADDRESS_KIND) :: first, second
  integer :: numbers(4)
  double precision :: before, tick
  logical :: flag, yes, no, is_set
  character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: library
  character(len=MPI_MAX_PROCESSOR_NAME) :: name
  character(len=MPI_MAX_ERROR_STRING) :: text
  @Info :: info

  call MPI_Initialized(flag, e)
  call ok(e, "MPI_Initialized")
  call check(.not. flag, "MPI is initialized before MPI_Init_thread")
  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided, e)
  call ok(e, "MPI_Init_thread")
  call check(provided >= MPI_THREAD_SINGLE .and. provided <= MPI_THREAD_MULTIPLE, "the level of threads")
  call MPI_Initialized(flag, e)
  call check(flag, "MPI is not initialized after MPI_Init_thread")
  call MPI_Finalized(flag, e)
  call check(.not. flag, "MPI is finalized")
  call MPI_Query_thread(i, e)
  call check(i == provided, "MPI_Query_thread differs from MPI_Init_thread")
  call MPI_Is_thread_main(flag, e)
  call check(flag, "this is not the main thread")
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, e)
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, e)

  call MPI_Get_version(major, minor, e)
  call check(major == MPI_VERSION .and. minor == MPI_SUBVERSION, "the version")
  call MPI_Abi_get_version(major, minor, e)
  call check(major == MPI_ABI_VERSION .and. minor == MPI_ABI_SUBVERSION, "the version of the ABI")
  library = repeat("?", len(library))
  call MPI_Get_library_version(library, length, e)
  call check(length > 0 .and. length <= len(library), "the length of the library's version")
  call check(len_trim(library) <= length .and. index(library, "?") == 0, "the library's version is not filled with blanks")
  call MPI_Get_processor_name(name, length, e)
  call check(length > 0 .and. len_trim(name) == length, "the name of the processor")
  call MPI_Pcontrol(1)

  before = MPI_Wtime()
  tick = MPI_Wtick()
  call check(tick > 0 .and. tick < 1, "the tick of the clock")
  call check(MPI_Wtime() >= before, "the time")
  call MPI_Get_address(numbers(1), first, e)
  call MPI_Get_address(numbers(3), second, e)
  call check(MPI_Aint_diff(second, first) == 2 * storage_size(numbers) / 8, "the difference of two addresses")
  call check(MPI_Aint_add(first, MPI_Aint_diff(second, first)) == second, "the sum of an address and a difference")

  call MPI_Error_class(MPI_ERR_TRUNCATE, class, e)
  call check(class == MPI_ERR_TRUNCATE, "the class of an error class")
  text = repeat("?", len(text))
  call MPI_Error_string(MPI_ERR_TRUNCATE, text, length, e)
  call check(length > 0 .and. len_trim(text) == length, "the text of an error")

  call MPI_Add_error_class(class, e)
  call ok(e, "MPI_Add_error_class")
  call check(class > MPI_ERR_LASTCODE, "the new error class")
  call MPI_Add_error_code(class, code, e)
  call ok(e, "MPI_Add_error_code")
  call MPI_Add_error_string(code, "it rains    ", e)
  call ok(e, "MPI_Add_error_string")
  call MPI_Error_string(code, text, length, e)
  call check(length == 8 .and. text == "it rains", "the text of an error that was added")
  call MPI_Error_class(code, i, e)
  call check(i == class, "the class of a code that was added")
  call MPI_Remove_error_string(code, e)
  call ok(e, "MPI_Remove_error_string")
  call MPI_Remove_error_code(code, e)
  call ok(e, "MPI_Remove_error_code")
  call MPI_Remove_error_class(class, e)
  call ok(e, "MPI_Remove_error_class")

  call MPI_Get_hw_resource_info(info, e)
  call ok(e, "MPI_Get_hw_resource_info")
  call MPI_Info_get_nkeys(info, hw_keys, e)
  call check(hw_keys >= 0, "the keys of hardware resources")
  call MPI_Info_free(info, e)
  call MPI_Abi_get_info(info, e)
  call ok(e, "MPI_Abi_get_info")
  call MPI_Info_free(info, e)
  call MPI_Abi_get_fortran_info(info, e)
  call ok(e, "MPI_Abi_get_fortran_info")
  if (info /= MPI_INFO_NULL) then
    call MPI_Abi_set_fortran_info(info, e)
    call MPI_Error_class(e, class, i)
    call check(class == MPI_ERR_ABI, "Fortran's types are told to the library twice")
    call MPI_Info_free(info, e)
  end if
  logical_size = storage_size(flag) / 8
  call MPI_Abi_get_fortran_booleans(logical_size, yes, no, is_set, e)
  call ok(e, "MPI_Abi_get_fortran_booleans")
  if (is_set) call check(yes .and. .not. no, "the values of LOGICAL")
  call MPI_Abi_set_fortran_booleans(logical_size, .true., .false., e)
  call MPI_Error_class(e, class, i)
  call check(class == MPI_ERR_ABI .or. .not. is_set, "the values of LOGICAL are told to the library twice")

  call MPI_Finalize(e)
  call ok(e, "MPI_Finalize")
  call MPI_Finalized(flag, e)
  call check(flag, "MPI is not finalized")
  @end env
end program
