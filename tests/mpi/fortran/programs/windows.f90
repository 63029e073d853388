! One-sided communication, with each way to make a window and to synchronize.
program windows
  @use
  use checks
  implicit none
  @include
  integer, parameter :: bytes = storage_size(0) / 8
  integer :: e, i, rank, size, left, right, length, mine(8), other(8), one, was, asked
  integer(@K) :: n, unit
  integer(MPI_ADDRESS_KIND) :: extent, at, value, place
  integer, target, save :: exposed(16)
  logical :: flag
  character(len=MPI_MAX_OBJECT_NAME) :: name
  @Win :: win
  @Info :: info
  @Group :: group, all, others
  @Request :: requests(4)

  call MPI_Init(e)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, e)
  call MPI_Comm_size(MPI_COMM_WORLD, size, e)
  left = modulo(rank - 1, size)
  right = modulo(rank + 1, size)
  unit = bytes
  extent = 16 * bytes
  n = 4
  exposed = 0
  mine = [(10 * rank + i, i = 1, 8)]

  call MPI_Win_create(exposed, extent, unit, MPI_INFO_NULL, MPI_COMM_WORLD, win, e)
  call ok(e, "MPI_Win_create")
  call MPI_Win_set_name(win, "window ", e)
  name = repeat("?", len(name))
  call MPI_Win_get_name(win, name, length, e)
  call check(length == 6 .and. name == "window", "the name of a window")
  call MPI_Win_get_attr(win, MPI_WIN_SIZE, value, flag, e)
  call check(flag .and. value == extent, "the size of a window")
  call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, value, flag, e)
  call check(flag .and. value == unit, "the unit of a window")
  call MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, value, flag, e)
  call check(flag .and. value == MPI_WIN_FLAVOR_CREATE, "the flavour of a window")
  call MPI_Win_get_attr(win, MPI_WIN_BASE, value, flag, e)
  call MPI_Get_address(exposed, at, e)
  call check(flag .and. value == at, "the base of a window")
  call MPI_Info_create(info, e)
  call MPI_Win_set_info(win, info, e)
  call ok(e, "MPI_Win_set_info")
  call MPI_Info_free(info, e)
  call MPI_Win_get_info(win, info, e)
  call ok(e, "MPI_Win_get_info")
  call MPI_Info_free(info, e)
  call MPI_Win_get_group(win, group, e)
  call MPI_Group_size(group, i, e)
  call check(i == size, "the group of a window")

  ! Fences.
  call MPI_Win_fence(0, win, e)
  place = 0
  call MPI_Put(mine, n, MPI_INTEGER, right, place, n, MPI_INTEGER, win, e)
  call ok(e, "MPI_Put")
  call MPI_Win_fence(0, win, e)
  call MPI_F_sync_reg(exposed)
  call check(sum(abs(exposed(:4) - [(10 * left + i, i = 1, 4)])) == 0, "what was put")
  other = 0
  call MPI_Get(other, n, MPI_INTEGER, right, place, n, MPI_INTEGER, win, e)
  call ok(e, "MPI_Get")
  call MPI_Win_fence(0, win, e)
  call MPI_F_sync_reg(other)
  call check(other(4) == mine(4), "what was got")
  call MPI_Accumulate(mine, n, MPI_INTEGER, right, place, n, MPI_INTEGER, MPI_SUM, win, e)
  call ok(e, "MPI_Accumulate")
  call MPI_Win_fence(0, win, e)
  call check(exposed(4) == 2 * (10 * left + 4), "what was added")
  call MPI_Barrier(MPI_COMM_WORLD, e)  ! all have looked before anything is replaced
  call MPI_Get_accumulate(mine, n, MPI_INTEGER, other, n, MPI_INTEGER, right, place, n, MPI_INTEGER, MPI_REPLACE, win, e)
  call ok(e, "MPI_Get_accumulate")
  call MPI_Win_fence(0, win, e)
  call check(other(4) == 2 * mine(4) .and. exposed(4) == 10 * left + 4, "what was got and replaced")

  ! Locks, and the operations with requests.
  call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win, e)
  call ok(e, "MPI_Win_lock")
  place = 8
  call MPI_Rput(mine, n, MPI_INTEGER, right, place, n, MPI_INTEGER, win, requests(1), e)
  call ok(e, "MPI_Rput")
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE, e)
  call MPI_Win_flush(right, win, e)
  call ok(e, "MPI_Win_flush")
  call MPI_Raccumulate(mine, n, MPI_INTEGER, right, place, n, MPI_INTEGER, MPI_SUM, win, requests(1), e)
  call ok(e, "MPI_Raccumulate")
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE, e)
  call MPI_Win_flush_local(right, win, e)
  call ok(e, "MPI_Win_flush_local")
  call MPI_Win_flush(right, win, e)
  call MPI_Rget(other, n, MPI_INTEGER, right, place, n, MPI_INTEGER, win, requests(1), e)
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE, e)
  call check(other(1) == 2 * mine(1), "what MPI_Rget got")
  call MPI_Rget_accumulate(mine, n, MPI_INTEGER, other, n, MPI_INTEGER, right, place, n, MPI_INTEGER, MPI_NO_OP, win, &
                           requests(1), e)
  call ok(e, "MPI_Rget_accumulate")
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE, e)
  call check(other(2) == 2 * mine(2), "what MPI_Rget_accumulate got")
  one = 7
  place = 12
  call MPI_Fetch_and_op(one, was, MPI_INTEGER, right, place, MPI_SUM, win, e)
  call ok(e, "MPI_Fetch_and_op")
  call MPI_Win_flush(right, win, e)
  call check(was == 0, "what MPI_Fetch_and_op got")
  asked = 7
  one = 9
  call MPI_Compare_and_swap(one, asked, was, MPI_INTEGER, right, place, win, e)
  call ok(e, "MPI_Compare_and_swap")
  call MPI_Win_unlock(right, win, e)
  call ok(e, "MPI_Win_unlock")
  call check(was == 7, "what MPI_Compare_and_swap got")
  call MPI_Win_lock_all(0, win, e)
  call MPI_Win_sync(win, e)
  call ok(e, "MPI_Win_sync")
  call MPI_Win_flush_all(win, e)
  call MPI_Win_flush_local_all(win, e)
  call ok(e, "MPI_Win_flush_local_all")
  call MPI_Win_unlock_all(win, e)
  call ok(e, "MPI_Win_unlock_all")
  call MPI_Barrier(MPI_COMM_WORLD, e)
  call check(exposed(13) == 9, "what MPI_Compare_and_swap stored")

  ! Post and start.
  call MPI_Barrier(MPI_COMM_WORLD, e)
  call MPI_Group_incl(group, 1, [right], all, e)
  call MPI_Group_incl(group, 1, [left], others, e)
  call MPI_Win_post(others, 0, win, e)
  call ok(e, "MPI_Win_post")
  call MPI_Win_start(all, 0, win, e)
  call ok(e, "MPI_Win_start")
  place = 4
  call MPI_Put(mine, 1_@K, MPI_INTEGER, right, place, 1_@K, MPI_INTEGER, win, e)
  call MPI_Win_complete(win, e)
  call ok(e, "MPI_Win_complete")
  call MPI_Win_wait(win, e)
  call ok(e, "MPI_Win_wait")
  call check(exposed(5) == 10 * left + 1, "what was put after MPI_Win_start")
  call MPI_Win_post(others, 0, win, e)
  call MPI_Win_start(all, 0, win, e)
  call MPI_Win_complete(win, e)
  flag = .false.
  do while (.not. flag)
    call MPI_Win_test(win, flag, e)
    call ok(e, "MPI_Win_test")
  end do
  call MPI_Group_free(all, e)
  call MPI_Group_free(others, e)
  call MPI_Group_free(group, e)
  call MPI_Win_free(win, e)
  call check(win == MPI_WIN_NULL, "a window that was freed")

  call MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, win, e)
  call MPI_Win_attach(win, exposed, extent, e)
  call ok(e, "MPI_Win_attach")
  call MPI_Get_address(exposed, at, e)
  call MPI_Sendrecv(at, 1_@K, MPI_AINT, left, 1, place, 1_@K, MPI_AINT, right, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, e)
  call MPI_Win_fence(0, win, e)
  call MPI_Put(mine(8), 1_@K, MPI_INTEGER, right, place, 1_@K, MPI_INTEGER, win, e)
  call MPI_Win_fence(0, win, e)
  call check(exposed(1) == 10 * left + 8, "what was put into memory that was attached")
  call MPI_Win_detach(win, exposed, e)
  call ok(e, "MPI_Win_detach")
  call MPI_Win_free(win, e)
  call memory()
  call MPI_Finalize(e)
  @end windows
contains

  ! Memory that MPI gives: its address as an integer for Cray pointers, or as a C_PTR.
  subroutine memory()
    @Pointer :: base, queried
    integer(MPI_ADDRESS_KIND) :: asked
    integer(@K) :: unit_of
    call MPI_Alloc_mem(extent, MPI_INFO_NULL, base, e)
    call ok(e, "MPI_Alloc_mem")
    call use_memory(base)
    call free(base)
    call MPI_Win_allocate(extent, unit, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, e)
    call ok(e, "MPI_Win_allocate")
    call use_memory(base)
    call MPI_Win_get_attr(win, MPI_WIN_BASE, value, flag, e)
    call check(flag .and. is_at(base, value), "the base of a window that MPI has allocated")
    call MPI_Win_free(win, e)
    call MPI_Win_allocate_shared(extent, unit, MPI_INFO_NULL, MPI_COMM_SELF, base, win, e)
    call ok(e, "MPI_Win_allocate_shared")
    call use_memory(base)
    asked = 0
    call MPI_Win_shared_query(win, 0, asked, unit_of, queried, e)
    call ok(e, "MPI_Win_shared_query")
    call MPI_Win_get_attr(win, MPI_WIN_BASE, value, flag, e)
    call check(asked == extent .and. unit_of == unit .and. is_at(queried, value), "MPI_Win_shared_query")
    call MPI_Win_free(win, e)
  end subroutine

  @if f08
  logical function is_at(base, address)
    type(c_ptr), intent(in) :: base
    integer(MPI_ADDRESS_KIND), intent(in) :: address
    is_at = transfer(base, address) == address
  end function

  subroutine use_memory(base)
    type(c_ptr), intent(in) :: base
    integer, pointer :: numbers(:)
    call c_f_pointer(base, numbers, [16])
    numbers = 5
    call check(sum(numbers) == 80, "memory that MPI has allocated")
  end subroutine

  subroutine free(base)
    type(c_ptr), intent(in) :: base
    integer, pointer :: numbers(:)
    call c_f_pointer(base, numbers, [16])
    call MPI_Free_mem(numbers, e)
    call ok(e, "MPI_Free_mem")
  end subroutine
  @else
  logical function is_at(base, address)
    integer(MPI_ADDRESS_KIND), intent(in) :: base, address
    is_at = base == address
  end function

  subroutine use_memory(base)
    integer(MPI_ADDRESS_KIND), intent(in) :: base
    integer :: numbers(16)
    pointer (pointee, numbers)
    pointee = base
    numbers = 5
    call check(sum(numbers) == 80, "memory that MPI has allocated")
  end subroutine

  subroutine free(base)
    integer(MPI_ADDRESS_KIND), intent(in) :: base
    integer :: numbers(16)
    pointer (pointee, numbers)
    pointee = base
    call MPI_Free_mem(numbers, e)
    call ok(e, "MPI_Free_mem")
  end subroutine
  @end_if
end program
