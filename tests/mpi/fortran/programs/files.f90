! Files: each way to read and to write, written and read back.
program files
  @use
  use checks
  implicit none
  @include
  integer, parameter :: bytes = storage_size(0) / 8
  integer :: e, i, rank, size, mode, mine(4), back(4)
  integer(@K) :: n, count
  integer(MPI_OFFSET_KIND) :: at, place, zero
  integer(MPI_ADDRESS_KIND) :: extent
  logical :: flag
  character(len=60) :: name
  character(len=MPI_MAX_DATAREP_STRING) :: datarep
  @File :: file
  @Info :: info
  @Group :: group
  @Datatype :: etype, filetype, view
  @Status :: status
  @Request :: request

  call MPI_Init(e)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, e)
  call MPI_Comm_size(MPI_COMM_WORLD, size, e)
  call get_environment_variable("FORTRAN_TEST_FILE", name)
  call check(name /= " ", "FORTRAN_TEST_FILE names no file")
  call MPI_File_open(MPI_COMM_WORLD, "  " // trim(name) // "-nowhere/file  ", MPI_MODE_RDONLY, MPI_INFO_NULL, file, e)
  call MPI_Error_class(e, i, mode)
  call check(i == MPI_ERR_NO_SUCH_FILE, "a file that is not there is opened")
  call MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file, e)
  call ok(e, "MPI_File_open")
  call MPI_File_get_amode(file, mode, e)
  call check(mode == MPI_MODE_CREATE + MPI_MODE_RDWR, "the mode of a file")
  call MPI_File_get_group(file, group, e)
  call MPI_Group_size(group, i, e)
  call check(i == size, "the group of a file")
  call MPI_Group_free(group, e)
  call MPI_File_get_info(file, info, e)
  call ok(e, "MPI_File_get_info")
  call MPI_File_set_info(file, info, e)
  call ok(e, "MPI_File_set_info")
  call MPI_Info_free(info, e)
  at = 64 * bytes
  zero = 0
  call MPI_File_set_size(file, at, e)
  call ok(e, "MPI_File_set_size")
  call MPI_File_preallocate(file, at, e)
  call ok(e, "MPI_File_preallocate")
  call MPI_File_get_size(file, place, e)
  call check(place == at, "the size of a file")
  call MPI_File_set_atomicity(file, .true., e)
  call MPI_File_get_atomicity(file, flag, e)
  call check(flag, "the atomic mode")
  call MPI_File_set_atomicity(file, .false., e)
  call MPI_File_get_atomicity(file, flag, e)
  call check(.not. flag, "the mode that is not atomic")

  ! Each rank sees every size-th block of four.
  call MPI_Type_vector(1_@K, 4_@K, 4_@K, MPI_INTEGER, view, e)
  extent = 4 * bytes * size
  call MPI_Type_create_resized(view, 0_MPI_ADDRESS_KIND, extent, filetype, e)
  call MPI_Type_commit(filetype, e)
  at = 4 * bytes * rank
  call MPI_File_set_view(file, at, MPI_INTEGER, filetype, "native ", MPI_INFO_NULL, e)
  call ok(e, "MPI_File_set_view")
  call MPI_Type_free(view, e)
  datarep = repeat("?", len(datarep))
  call MPI_File_get_view(file, place, etype, view, datarep, e)
  call check(place == at .and. etype == MPI_INTEGER .and. datarep == "native", "the view of a file")
  call MPI_Type_free(view, e)
  call MPI_File_get_byte_offset(file, 5_MPI_OFFSET_KIND, place, e)
  call check(place == at + bytes + extent, "the place of an element in a file")
  call MPI_File_get_type_extent(file, MPI_INTEGER, extent, e)
  call check(extent == bytes, "the extent of a datatype in a file")
  n = 4

  ! By explicit offsets.
  call fill(1)
  call MPI_File_write_at(file, 0_MPI_OFFSET_KIND, mine, n, MPI_INTEGER, status, e)
  call wrote("MPI_File_write_at")
  call MPI_File_read_at(file, 0_MPI_OFFSET_KIND, back, n, MPI_INTEGER, status, e)
  call same("MPI_File_read_at")
  call fill(2)
  call MPI_File_write_at_all(file, 4_MPI_OFFSET_KIND, mine, n, MPI_INTEGER, status, e)
  call wrote("MPI_File_write_at_all")
  call MPI_File_read_at_all(file, 4_MPI_OFFSET_KIND, back, n, MPI_INTEGER, status, e)
  call same("MPI_File_read_at_all")
  call fill(3)
  call MPI_File_iwrite_at(file, 0_MPI_OFFSET_KIND, mine, n, MPI_INTEGER, request, e)
  call wait_for("MPI_File_iwrite_at")
  call MPI_File_iread_at(file, 0_MPI_OFFSET_KIND, back, n, MPI_INTEGER, request, e)
  call wait_for("MPI_File_iread_at")
  call same("MPI_File_iread_at")
  call fill(4)
  call MPI_File_iwrite_at_all(file, 0_MPI_OFFSET_KIND, mine, n, MPI_INTEGER, request, e)
  call wait_for("MPI_File_iwrite_at_all")
  call MPI_File_iread_at_all(file, 0_MPI_OFFSET_KIND, back, n, MPI_INTEGER, request, e)
  call wait_for("MPI_File_iread_at_all")
  call same("MPI_File_iread_at_all")
  call fill(5)
  call MPI_File_write_at_all_begin(file, 0_MPI_OFFSET_KIND, mine, n, MPI_INTEGER, e)
  call MPI_File_write_at_all_end(file, mine, status, e)
  call wrote("MPI_File_write_at_all_end")
  call MPI_File_read_at_all_begin(file, 0_MPI_OFFSET_KIND, back, n, MPI_INTEGER, e)
  call MPI_File_read_at_all_end(file, back, status, e)
  call same("MPI_File_read_at_all_end")

  ! By individual pointers.
  call fill(6)
  call MPI_File_seek(file, 4_MPI_OFFSET_KIND, MPI_SEEK_SET, e)
  call MPI_File_get_position(file, place, e)
  call check(place == 4, "the position in a file")
  call MPI_File_write(file, mine, n, MPI_INTEGER, status, e)
  call wrote("MPI_File_write")
  call MPI_File_get_position(file, place, e)
  call check(place == 8, "the position after a write")
  call MPI_File_seek(file, 4_MPI_OFFSET_KIND, MPI_SEEK_SET, e)
  call MPI_File_read(file, back, n, MPI_INTEGER, status, e)
  call same("MPI_File_read")
  call fill(7)
  call again()
  call MPI_File_write_all(file, mine, n, MPI_INTEGER, status, e)
  call wrote("MPI_File_write_all")
  call again()
  call MPI_File_read_all(file, back, n, MPI_INTEGER, status, e)
  call same("MPI_File_read_all")
  call fill(8)
  call again()
  call MPI_File_iwrite(file, mine, n, MPI_INTEGER, request, e)
  call wait_for("MPI_File_iwrite")
  call again()
  call MPI_File_iread(file, back, n, MPI_INTEGER, request, e)
  call wait_for("MPI_File_iread")
  call same("MPI_File_iread")
  call fill(9)
  call again()
  call MPI_File_iwrite_all(file, mine, n, MPI_INTEGER, request, e)
  call wait_for("MPI_File_iwrite_all")
  call again()
  call MPI_File_iread_all(file, back, n, MPI_INTEGER, request, e)
  call wait_for("MPI_File_iread_all")
  call same("MPI_File_iread_all")
  call fill(10)
  call again()
  call MPI_File_write_all_begin(file, mine, n, MPI_INTEGER, e)
  call MPI_File_write_all_end(file, mine, status, e)
  call wrote("MPI_File_write_all_end")
  call again()
  call MPI_File_read_all_begin(file, back, n, MPI_INTEGER, e)
  call MPI_File_read_all_end(file, back, status, e)
  call same("MPI_File_read_all_end")

  ! By the shared pointer: in the order of ranks, or one after another.
  call MPI_File_set_view(file, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, "native", MPI_INFO_NULL, e)
  call fill(11)
  call MPI_File_write_ordered(file, mine, n, MPI_INTEGER, status, e)
  call wrote("MPI_File_write_ordered")
  call start_shared(4_MPI_OFFSET_KIND * size)
  call MPI_File_read_ordered(file, back, n, MPI_INTEGER, status, e)
  call same("MPI_File_read_ordered")
  call fill(12)
  call start_shared(4_MPI_OFFSET_KIND * size)
  call MPI_File_write_ordered_begin(file, mine, n, MPI_INTEGER, e)
  call MPI_File_write_ordered_end(file, mine, status, e)
  call wrote("MPI_File_write_ordered_end")
  call start_shared(4_MPI_OFFSET_KIND * size)
  call MPI_File_read_ordered_begin(file, back, n, MPI_INTEGER, e)
  call MPI_File_read_ordered_end(file, back, status, e)
  call same("MPI_File_read_ordered_end")
  mine = 13
  call start_shared(4_MPI_OFFSET_KIND * size)
  call MPI_File_write_shared(file, mine, n, MPI_INTEGER, status, e)
  call wrote("MPI_File_write_shared")
  call start_shared(4_MPI_OFFSET_KIND * size)
  call MPI_File_read_shared(file, back, n, MPI_INTEGER, status, e)
  call same("MPI_File_read_shared")
  mine = 14
  call start_shared(4_MPI_OFFSET_KIND * size)
  call MPI_File_iwrite_shared(file, mine, n, MPI_INTEGER, request, e)
  call wait_for("MPI_File_iwrite_shared")
  call start_shared(4_MPI_OFFSET_KIND * size)
  call MPI_File_iread_shared(file, back, n, MPI_INTEGER, request, e)
  call wait_for("MPI_File_iread_shared")
  call same("MPI_File_iread_shared")

  call MPI_File_sync(file, e)
  call ok(e, "MPI_File_sync")
  call MPI_File_close(file, e)
  call check(e == MPI_SUCCESS .and. file == MPI_FILE_NULL, "a file that was closed")
  call MPI_Barrier(MPI_COMM_WORLD, e)
  if (rank == 0) then
    call MPI_File_delete(name, MPI_INFO_NULL, e)
    call ok(e, "MPI_File_delete")
  end if
  call MPI_Type_free(filetype, e)
  call MPI_Finalize(e)
  @end files
contains

  subroutine fill(round)
    integer, intent(in) :: round
    mine = 100 * round + 10 * rank + [1, 2, 3, 4]
    back = -1
  end subroutine

  subroutine again()
    call MPI_File_seek(file, 0_MPI_OFFSET_KIND, MPI_SEEK_SET, e)
    call ok(e, "MPI_File_seek")
  end subroutine

  ! All have written so much; back to the start.
  subroutine start_shared(expected)
    integer(MPI_OFFSET_KIND), intent(in) :: expected
    call MPI_Barrier(MPI_COMM_WORLD, e)
    call MPI_File_get_position_shared(file, place, e)
    call check(place == expected, "the shared position in a file")
    call MPI_Barrier(MPI_COMM_WORLD, e)
    call MPI_File_seek_shared(file, zero, MPI_SEEK_SET, e)
    call ok(e, "MPI_File_seek_shared")
  end subroutine

  subroutine wait_for(what)
    character(len=*), intent(in) :: what
    call ok(e, what)
    call MPI_Wait(request, status, e)
    call wrote(what)
  end subroutine

  subroutine wrote(what)
    character(len=*), intent(in) :: what
    call ok(e, what)
    call MPI_Get_count(status, MPI_INTEGER, count, e)
    call check(count == n, "the count of " // what)
  end subroutine

  subroutine same(what)
    character(len=*), intent(in) :: what
    call MPI_F_sync_reg(back)
    call check(sum(abs(back - mine)) == 0, "what was read by " // what)
  end subroutine
end program
