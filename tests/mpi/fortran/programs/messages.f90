! Point-to-point communication in a ring: every mode of sending, with every way to wait and to test.
program messages
  @use
  use checks
  implicit none
  @include
  integer :: e, i, rank, size, left, right, done, which, places(4), into(40), out(8)
  integer(@K) :: n, bytes
  integer(MPI_COUNT_KIND) :: each
  logical :: flag
  character(len=1), target, save :: room(20000)
  @Comm :: comm
  @Request :: requests(4), request
  @Message :: message
  @Status :: status, statuses(4)
  @Pointer :: at

  call MPI_Init(e)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, e)
  call MPI_Comm_rank(comm, rank, e)
  call MPI_Comm_size(comm, size, e)
  left = modulo(rank - 1, size)
  right = modulo(rank + 1, size)
  out = [(10 * rank + i, i = 1, 8)]
  n = 2
  bytes = ubound(room, 1)
  call MPI_Buffer_attach(room, bytes, e)
  call ok(e, "MPI_Buffer_attach")

  ! Blocking sends, for which the receive is posted.
  call post()
  call MPI_Send(out(1), n, MPI_INTEGER, right, 1, comm, e)
  call MPI_Bsend(out(3), n, MPI_INTEGER, right, 2, comm, e)
  call MPI_Ssend(out(5), n, MPI_INTEGER, right, 3, comm, e)
  call MPI_Barrier(comm, e)  ! so that the receive for the ready send is there
  call MPI_Rsend(out(7), n, MPI_INTEGER, right, 4, comm, e)
  call MPI_Waitall(4, requests, statuses, e)
  call ok(e, "MPI_Waitall")
  call came("blocking sends")
  do i = 1, 4
    call check(@source(statuses(i)) == left .and. @tag(statuses(i)) == i, "a status of MPI_Waitall")
  end do
  call MPI_Buffer_flush(e)
  call ok(e, "MPI_Buffer_flush")
  call MPI_Buffer_iflush(request, e)
  call MPI_Wait(request, status, e)
  call ok(e, "MPI_Buffer_iflush")

  ! Sends that go on, each waited for in another way.
  call post()
  call MPI_Barrier(comm, e)
  call MPI_Isend(out(1), n, MPI_INTEGER, right, 1, comm, request, e)
  call MPI_Wait(request, status, e)
  call check(request == MPI_REQUEST_NULL, "a request that has been waited for")
  call MPI_Ibsend(out(3), n, MPI_INTEGER, right, 2, comm, request, e)
  call MPI_Wait(request, MPI_STATUS_IGNORE, e)
  call MPI_Issend(out(5), n, MPI_INTEGER, right, 3, comm, request, e)
  flag = .false.
  do while (.not. flag)
    call MPI_Test(request, flag, status, e)
  end do
  call MPI_Irsend(out(7), n, MPI_INTEGER, right, 4, comm, request, e)
  call MPI_Request_free(request, e)
  call ok(e, "MPI_Request_free")
  done = 0
  do while (done < 4)
    call MPI_Waitany(4, requests, which, status, e)
    call check(which >= 1 .and. which <= 4, "an index of MPI_Waitany")
    call check(@tag(status) == which, "a status of MPI_Waitany")
    done = done + 1
  end do
  call MPI_Waitany(4, requests, which, MPI_STATUS_IGNORE, e)
  call check(which == MPI_UNDEFINED, "the index of MPI_Waitany when there is nothing to wait for")
  call came("sends that go on")

  ! The other ways to test.
  call post()
  call send_init_all()
  flag = .false.
  do while (.not. flag)
    call MPI_Request_get_status_all(4, requests, flag, MPI_STATUSES_IGNORE, e)
    call ok(e, "MPI_Request_get_status_all")
  end do
  call MPI_Request_get_status_any(4, requests, which, flag, status, e)
  call check(flag .and. which >= 1 .and. which <= 4 .and. @tag(status) == which, "MPI_Request_get_status_any")
  call MPI_Request_get_status_some(4, requests, which, places, statuses, e)
  call check(which == 4 .and. sum(places) == 10, "MPI_Request_get_status_some")
  call MPI_Request_get_status(requests(2), flag, status, e)
  call check(flag .and. @tag(status) == 2, "MPI_Request_get_status")
  call MPI_Testall(4, requests, flag, statuses, e)
  call check(flag .and. @tag(statuses(3)) == 3, "MPI_Testall")
  call came("sends that were tested for")

  ! Persistent ones.
  call post_init()
  call MPI_Startall(4, requests, e)
  call send_init_all()
  done = 0
  do while (done < 4)
    call MPI_Waitsome(4, requests, which, places, statuses, e)
    call check(which >= 1 .and. which <= 4 .and. minval(places(:which)) >= 1 .and. maxval(places(:which)) <= 4, &
               "the indices of MPI_Waitsome")
    done = done + which
  end do
  call came("persistent sends")
  call MPI_Start(requests(1), e)
  call MPI_Start(requests(2), e)
  call MPI_Sendrecv(out(1), n, MPI_INTEGER, right, 1, into(33), 2_@K, MPI_INTEGER, MPI_PROC_NULL, 9, comm, status, e)
  call check(@source(status) == MPI_PROC_NULL .and. @tag(status) == MPI_ANY_TAG, "a status of nobody's message")
  flag = .false.
  do while (.not. flag)
    call MPI_Testany(2, requests, which, flag, status, e)
  end do
  call check(which == 1, "the index of MPI_Testany")
  call MPI_Testsome(2, requests, done, places, MPI_STATUSES_IGNORE, e)
  call check(done == 0, "the number of MPI_Testsome")
  call MPI_Cancel(requests(2), e)
  call ok(e, "MPI_Cancel")
  call MPI_Wait(requests(2), status, e)
  call MPI_Test_cancelled(status, flag, e)
  call check(flag, "a receive that was cancelled")
  do i = 1, 4
    call MPI_Request_free(requests(i), e)
    call check(requests(i) == MPI_REQUEST_NULL, "a request that was freed")
  end do

  ! Probes.
  call MPI_Isend(out(1), 3_@K, MPI_INTEGER, right, 21, comm, request, e)
  call MPI_Probe(left, 21, comm, status, e)
  call counted(3_@K, "MPI_Probe")
  flag = .false.
  do while (.not. flag)
    call MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, flag, status, e)
  end do
  call check(@source(status) == left .and. @tag(status) == 21, "the status of MPI_Iprobe")
  into = 0
  call MPI_Recv(into, 4_@K, MPI_INTEGER, left, 21, comm, status, e)
  call counted(3_@K, "MPI_Recv")
  call check(into(3) == 10 * left + 3 .and. into(4) == 0, "what MPI_Recv got")
  call MPI_Wait(request, status, e)
  call MPI_Isend(out(1), 3_@K, MPI_INTEGER, right, 22, comm, requests(1), e)
  call MPI_Isend(out(4), 3_@K, MPI_INTEGER, right, 23, comm, requests(2), e)
  call MPI_Mprobe(left, 22, comm, message, status, e)
  call counted(3_@K, "MPI_Mprobe")
  call MPI_Mrecv(into, 3_@K, MPI_INTEGER, message, status, e)
  call check(message == MPI_MESSAGE_NULL .and. into(1) == 10 * left + 1, "MPI_Mrecv")
  flag = .false.
  do while (.not. flag)
    call MPI_Improbe(left, MPI_ANY_TAG, comm, flag, message, status, e)
  end do
  call MPI_Imrecv(into, 3_@K, MPI_INTEGER, message, request, e)
  call MPI_Wait(request, status, e)
  call check(@tag(status) == 23 .and. into(1) == 10 * left + 4, "MPI_Imrecv")
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, e)

  ! Both at once.
  into = 0
  call MPI_Sendrecv(out(1), n, MPI_INTEGER, right, 31, into, n, MPI_INTEGER, left, 31, comm, status, e)
  call check(all(into(:2) == 10 * left + [1, 2]), "MPI_Sendrecv")
  call MPI_Sendrecv_replace(into, n, MPI_INTEGER, left, 32, right, 32, comm, status, e)
  call check(all(into(:2) == 10 * rank + [1, 2]), "MPI_Sendrecv_replace")
  call MPI_Isendrecv(out(1), n, MPI_INTEGER, right, 33, into, n, MPI_INTEGER, left, 33, comm, request, e)
  call MPI_Wait(request, status, e)
  call check(all(into(:2) == 10 * left + [1, 2]), "MPI_Isendrecv")
  call MPI_Isendrecv_replace(into, n, MPI_INTEGER, left, 34, right, 34, comm, request, e)
  call MPI_Wait(request, status, e)
  call check(all(into(:2) == 10 * rank + [1, 2]), "MPI_Isendrecv_replace")

  ! In partitions.
  each = 2
  into = 0
  call MPI_Precv_init(into, 2, each, MPI_INTEGER, left, 41, comm, MPI_INFO_NULL, requests(1), e)
  call MPI_Psend_init(out, 4, each / 2, MPI_INTEGER, right, 41, comm, MPI_INFO_NULL, requests(2), e)
  call ok(e, "MPI_Psend_init")
  call MPI_Startall(2, requests, e)
  call ok(e, "MPI_Startall of partitioned requests")
  call partitions_go()
  call MPI_Request_free(requests(1), e)
  call MPI_Request_free(requests(2), e)

  call MPI_Buffer_detach(at, bytes, e)
  call ok(e, "MPI_Buffer_detach")
  call check(bytes == ubound(room, 1), "the size of the buffer that was detached")
  @if f08
  call check(c_associated(at, c_loc(room)), "the address of the buffer that was detached")
  @end_if
  call MPI_Comm_attach_buffer(comm, room, bytes, e)
  call ok(e, "MPI_Comm_attach_buffer")
  call MPI_Bsend(out, n, MPI_INTEGER, right, 51, comm, e)
  call MPI_Recv(into, n, MPI_INTEGER, left, 51, comm, status, e)
  call MPI_Comm_flush_buffer(comm, e)
  call ok(e, "MPI_Comm_flush_buffer")
  call MPI_Comm_iflush_buffer(comm, request, e)
  call MPI_Wait(request, status, e)
  call MPI_Comm_detach_buffer(comm, at, bytes, e)
  call ok(e, "MPI_Comm_detach_buffer")
  call check(bytes == ubound(room, 1), "the size of the communicator's buffer that was detached")
  call MPI_Comm_attach_buffer(comm, MPI_BUFFER_AUTOMATIC, 0_@K, e)
  call ok(e, "MPI_Comm_attach_buffer of MPI_BUFFER_AUTOMATIC")
  call MPI_Comm_detach_buffer(comm, at, bytes, e)
  call MPI_Comm_free(comm, e)
  call MPI_Finalize(e)
  @end messages
contains

  subroutine post()
    integer :: i
    into = 0
    do i = 1, 4
      call MPI_Irecv(into(2 * i - 1), n, MPI_INTEGER, left, i, comm, requests(i), e)
      call ok(e, "MPI_Irecv")
    end do
  end subroutine

  subroutine post_init()
    integer :: i
    into = 0
    do i = 1, 4
      call MPI_Recv_init(into(2 * i - 1), n, MPI_INTEGER, left, i, comm, requests(i), e)
      call ok(e, "MPI_Recv_init")
    end do
  end subroutine

  subroutine send_init_all()
    @Request :: sends(4)
    integer :: i
    call MPI_Barrier(comm, e)
    call MPI_Send_init(out(1), n, MPI_INTEGER, right, 1, comm, sends(1), e)
    call MPI_Bsend_init(out(3), n, MPI_INTEGER, right, 2, comm, sends(2), e)
    call MPI_Ssend_init(out(5), n, MPI_INTEGER, right, 3, comm, sends(3), e)
    call MPI_Rsend_init(out(7), n, MPI_INTEGER, right, 4, comm, sends(4), e)
    call MPI_Startall(4, sends, e)
    call ok(e, "MPI_Startall")
    call MPI_Waitall(4, sends, MPI_STATUSES_IGNORE, e)
    do i = 1, 4
      call MPI_Request_free(sends(i), e)
    end do
  end subroutine

  subroutine came(what)
    character(len=*), intent(in) :: what
    integer :: i
    call check(all(into(:8) == [(10 * left + i, i = 1, 8)]), what)
  end subroutine

  subroutine counted(expected, what)
    integer(@K), intent(in) :: expected
    character(len=*), intent(in) :: what
    integer(@K) :: count
    call MPI_Get_count(status, MPI_INTEGER, count, e)
    call check(count == expected, "the count after " // what)
  end subroutine

  ! Four partitions go, one arrives as two.
  subroutine partitions_go()
    integer :: partitions(1)
    partitions = 3
    call MPI_Pready(0, requests(2), e)
    call ok(e, "MPI_Pready")
    call MPI_Pready_range(1, 2, requests(2), e)
    call ok(e, "MPI_Pready_range")
    call MPI_Pready_list(1, partitions, requests(2), e)
    call ok(e, "MPI_Pready_list")
    flag = .false.
    do while (.not. flag)
      call MPI_Parrived(requests(1), 1, flag, e)
      call ok(e, "MPI_Parrived")
    end do
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, e)
    call check(all(into(:4) == 10 * left + [1, 2, 3, 4]), "what came in partitions")
  end subroutine
end program
