! Ports, names and joining: what is not there yet says so.
program jobs
  @use
  use checks
  implicit none
  @include
  integer :: e, class, i, rank, codes(2)
  character(len=MPI_MAX_PORT_NAME) :: port, name
  character(len=20) :: arguments(3), table(2, 2)
  @Comm :: inter

  call MPI_Init(e)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, e)
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, e)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, e)
  port = " "
  call MPI_Open_port(MPI_INFO_NULL, port, e)
  call either("MPI_Open_port", MPI_SUCCESS)
  name = "heddle-test-fortran " // port(:len(name) - 20)  ! no other process has this one
  call MPI_Publish_name(name, MPI_INFO_NULL, port, e)
  call either("MPI_Publish_name", MPI_SUCCESS)
  call MPI_Unpublish_name(name, MPI_INFO_NULL, port, e)
  call either("MPI_Unpublish_name", MPI_SUCCESS)
  call MPI_Lookup_name("heddle-test-nobody", MPI_INFO_NULL, port, e)
  call either("MPI_Lookup_name", MPI_ERR_NAME)
  call MPI_Close_port(port, e)
  call either("MPI_Close_port", MPI_SUCCESS)
  call MPI_Comm_join(-1, inter, e)
  call MPI_Error_class(e, class, i)
  call check(class /= MPI_SUCCESS, "joining over no socket")
  arguments = [character(len=20) :: " -n ", "two words", " "]
  call MPI_Comm_spawn(" /nowhere/program ", arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, inter, codes, e)
  call either("MPI_Comm_spawn", MPI_ERR_SPAWN)
  call MPI_Comm_spawn("/nowhere/program", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, inter, MPI_ERRCODES_IGNORE, e)
  call either("MPI_Comm_spawn", MPI_ERR_SPAWN)
  table(:, 1) = "-v"
  table(:, 2) = " "
  call MPI_Comm_spawn_multiple(2, arguments, table, [1, 1], [MPI_INFO_NULL, MPI_INFO_NULL], 0, MPI_COMM_SELF, inter, codes, e)
  call either("MPI_Comm_spawn_multiple", MPI_ERR_SPAWN)
  call MPI_Comm_spawn_multiple(2, arguments, MPI_ARGVS_NULL, [1, 1], [MPI_INFO_NULL, MPI_INFO_NULL], 0, MPI_COMM_SELF, inter, &
                               MPI_ERRCODES_IGNORE, e)
  call either("MPI_Comm_spawn_multiple", MPI_ERR_SPAWN)
  call MPI_Finalize(e)
  @end jobs
contains

  subroutine either(what, expected)
    character(len=*), intent(in) :: what
    integer, intent(in) :: expected
    call MPI_Error_class(e, class, i)
    call check(class == expected .or. class == MPI_ERR_UNSUPPORTED_OPERATION, what)
  end subroutine
end program
