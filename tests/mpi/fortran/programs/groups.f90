! Groups, and the communicators and sessions that they come from.
program groups
  @use
  use checks
  implicit none
  @include
  integer :: e, i, rank, size, n, length, n_pset
  integer :: ranks(2), ranges(3, 1), translated(2)
  character(len=MPI_MAX_PSET_NAME_LEN) :: pset
  character(len=MPI_MAX_OBJECT_NAME) :: name
  character(len=16), target, save :: room(512)
  logical :: flag, is_inter
  @Group :: world, first, others, both, none, same
  @Session :: session
  @Info :: info
  @Comm :: comm, copy, inter, merged
  @Request :: request

  call MPI_Init(e)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, e)
  call MPI_Comm_size(MPI_COMM_WORLD, size, e)
  call MPI_Comm_group(MPI_COMM_WORLD, world, e)
  call MPI_Group_size(world, n, e)
  call check(n == size, "the size of the world's group")
  call MPI_Group_rank(world, n, e)
  call check(n == rank, "the rank in the world's group")
  ranks = [0, 1]
  call MPI_Group_incl(world, 1, ranks, first, e)
  call MPI_Group_excl(world, 1, ranks, others, e)
  call MPI_Group_size(others, n, e)
  call check(n == size - 1, "a group without its first")
  call MPI_Group_union(first, others, both, e)
  call MPI_Group_compare(both, world, i, e)
  call check(i == MPI_IDENT, "the union of a group's parts")
  call MPI_Group_free(both, e)
  call check(both == MPI_GROUP_NULL, "a group that was freed")
  call MPI_Group_intersection(first, others, none, e)
  call check(none == MPI_GROUP_EMPTY, "the intersection of a group's parts")
  call MPI_Group_difference(world, others, same, e)
  call MPI_Group_compare(same, first, i, e)
  call check(i == MPI_IDENT, "the difference of a group and its part")
  call MPI_Group_free(same, e)
  ranges(:, 1) = [size - 1, 0, -1]
  call MPI_Group_range_incl(world, 1, ranges, both, e)
  call ok(e, "MPI_Group_range_incl")
  translated = -1
  call MPI_Group_translate_ranks(both, 1, ranks, world, translated, e)
  call check(translated(1) == size - 1 .and. translated(2) == -1, "a rank in a group that is reversed")
  call MPI_Group_free(both, e)
  call MPI_Group_range_excl(world, 1, ranges, none, e)
  call check(none == MPI_GROUP_EMPTY, "a group without all")

  call MPI_Comm_create(MPI_COMM_WORLD, first, comm, e)
  call check((comm == MPI_COMM_NULL) .eqv. (rank /= 0), "a communicator of the first")
  if (rank == 0) then
    call MPI_Comm_compare(comm, MPI_COMM_SELF, i, e)
    call check(i == MPI_CONGRUENT, "the comparison of communicators of one rank")
    call MPI_Comm_free(comm, e)
    call MPI_Comm_create_group(MPI_COMM_WORLD, first, 5, comm, e)
    call ok(e, "MPI_Comm_create_group")
    call MPI_Comm_disconnect(comm, e)
    call check(comm == MPI_COMM_NULL, "a communicator that was disconnected")
  end if
  call MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, comm, e)
  call MPI_Comm_rank(comm, n, e)
  call check(n == size - 1 - rank, "the rank in a communicator that is reversed")
  call MPI_Comm_set_name(comm, "backwards    ", e)
  name = repeat("?", len(name))
  call MPI_Comm_get_name(comm, name, length, e)
  call check(length == 9 .and. name == "backwards", "the name is '" // trim(name) // "'")
  call MPI_Comm_test_inter(comm, is_inter, e)
  call check(.not. is_inter, "an intracommunicator")
  call MPI_Info_create(info, e)
  call MPI_Info_set(info, "mpi_assert_no_any_tag", "true", e)
  call MPI_Comm_set_info(comm, info, e)
  call ok(e, "MPI_Comm_set_info")
  call MPI_Comm_dup_with_info(comm, info, copy, e)
  call MPI_Info_free(info, e)
  call MPI_Comm_get_info(copy, info, e)
  call MPI_Info_get_nkeys(info, n, e)
  call check(n > 0, "the info of a communicator")
  call MPI_Comm_free(copy, e)
  call MPI_Comm_idup(comm, copy, request, e)
  call MPI_Wait(request, MPI_STATUS_IGNORE, e)
  call MPI_Comm_compare(comm, copy, i, e)
  call check(i == MPI_CONGRUENT, "MPI_Comm_idup")
  call MPI_Comm_free(copy, e)
  call MPI_Comm_idup_with_info(comm, info, copy, request, e)
  call MPI_Wait(request, MPI_STATUS_IGNORE, e)
  call MPI_Comm_free(copy, e)
  call MPI_Comm_dup(comm, copy, e)
  call MPI_Comm_free(copy, e)
  call MPI_Info_free(info, e)
  call MPI_Comm_free(comm, e)
  call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, comm, e)
  call MPI_Comm_size(comm, n, e)
  call check(n >= 1 .and. n <= size, "the communicator of a node")
  call MPI_Comm_free(comm, e)

  if (size > 1) then
    call MPI_Comm_split(MPI_COMM_WORLD, modulo(rank, 2), rank, comm, e)
    call MPI_Intercomm_create(comm, 0, MPI_COMM_WORLD, 1 - modulo(rank, 2), 11, inter, e)
    call ok(e, "MPI_Intercomm_create")
    call MPI_Comm_test_inter(inter, is_inter, e)
    call check(is_inter, "an intercommunicator")
    call MPI_Comm_remote_size(inter, n, e)
    call check(n == (size + modulo(rank, 2)) / 2, "the size of the remote group")
    call MPI_Comm_remote_group(inter, both, e)
    call MPI_Group_size(both, i, e)
    call check(i == n, "the remote group")
    call MPI_Group_free(both, e)
    call MPI_Intercomm_merge(inter, rank == 0, merged, e)
    call MPI_Comm_size(merged, n, e)
    call check(n == size, "the communicator that both groups make")
    call MPI_Comm_free(merged, e)
    call MPI_Comm_free(inter, e)
    ranks = [modulo(rank, 2), 1 - modulo(rank, 2)]
    call MPI_Group_incl(world, 1, ranks(1:1), both, e)
    call MPI_Group_incl(world, 1, ranks(2:2), same, e)
    if (rank < 2) then
      call MPI_Intercomm_create_from_groups(both, 0, same, 0, "org.example.pair", MPI_INFO_NULL, MPI_ERRORS_RETURN, inter, e)
      call ok(e, "MPI_Intercomm_create_from_groups")
      call MPI_Comm_free(inter, e)
    end if
    call MPI_Group_free(both, e)
    call MPI_Group_free(same, e)
    call MPI_Comm_free(comm, e)
  end if
  call MPI_Comm_get_parent(comm, e)
  call check(e == MPI_SUCCESS .and. comm == MPI_COMM_NULL, "a parent of what nobody spawned")

  call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session, e)
  call ok(e, "MPI_Session_init")
  call MPI_Session_get_num_psets(session, MPI_INFO_NULL, n, e)
  call check(n >= 2, "the number of process sets")
  flag = .false.
  do i = 0, n - 1
    length = 0
    call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, length, pset, e)
    call check(length > 0 .and. length <= len(pset), "the length of the name of a process set")
    pset = repeat("?", len(pset))
    n_pset = len(pset)
    call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, n_pset, pset, e)
    call check(len_trim(pset) == length, "a process set is '" // trim(pset) // "'")
    flag = flag .or. pset == "mpi://WORLD"
  end do
  call check(flag, "there is no process set mpi://WORLD")
  call MPI_Session_get_pset_info(session, "mpi://WORLD ", info, e)
  call ok(e, "MPI_Session_get_pset_info")
  name = "?"
  call MPI_Info_get(info, "mpi_size", len(name), name, flag, e)
  read (name, *) n
  call check(flag .and. n == size, "the size of a process set")
  call MPI_Info_free(info, e)
  call MPI_Session_get_info(session, info, e)
  call MPI_Info_free(info, e)
  call MPI_Group_from_session_pset(session, "mpi://WORLD", both, e)
  call MPI_Group_size(both, n, e)
  call check(n == size, "the group of a process set")
  call MPI_Comm_create_from_group(both, "org.example.all", MPI_INFO_NULL, MPI_ERRORS_RETURN, comm, e)
  call ok(e, "MPI_Comm_create_from_group")
  call MPI_Comm_size(comm, n, e)
  call check(n == size, "the communicator of a process set")
  call MPI_Comm_free(comm, e)
  call MPI_Group_free(both, e)
  call MPI_Session_attach_buffer(session, room, size_of(room), e)
  call ok(e, "MPI_Session_attach_buffer")
  call MPI_Session_flush_buffer(session, e)
  call ok(e, "MPI_Session_flush_buffer")
  call MPI_Session_iflush_buffer(session, request, e)
  call MPI_Wait(request, MPI_STATUS_IGNORE, e)
  call ok(e, "MPI_Session_iflush_buffer")
  call detach(session)
  call MPI_Session_finalize(session, e)
  call ok(e, "MPI_Session_finalize")
  call MPI_Group_free(first, e)
  call MPI_Group_free(others, e)
  call MPI_Group_free(world, e)
  call MPI_Finalize(e)
  @end groups
contains

  integer(@K) function size_of(room)
    character(len=*), intent(in) :: room(:)
    size_of = len(room, kind=@K) * ubound(room, 1)
  end function

  subroutine detach(session)
    @Session, intent(in) :: session
    integer(@K) :: bytes
    @Pointer :: at
    call MPI_Session_detach_buffer(session, at, bytes, e)
    call ok(e, "MPI_Session_detach_buffer")
    call check(bytes == size_of(room), "the size of the buffer that was detached")
    @if f08
    call check(c_associated(at, c_loc(room)), "the address of the buffer that was detached")
    @end_if
  end subroutine
end program
