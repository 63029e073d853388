! Array sections with gaps as buffers: copied where the call is over when it returns, described by a datatype where it goes on, refused
! where neither is possible; and whatever else can be a buffer.
program sections
  @use
  use checks
  implicit none
  type :: point
    integer :: x
    double precision :: y
  end type
  integer :: i, rank, size, left, right, code, length, class, numbers(6), small(3)
  integer :: a(10, 10), b(10, 10), cube(4, 4, 4), other(4, 4, 4)
  double precision :: reals(20), back(20)
  character(len=3) :: words(6), got(6)
  type(point) :: points(4), copies(4)
  character(len=MPI_MAX_ERROR_STRING) :: text
  integer, allocatable :: heap(:, :)
  integer, pointer :: view(:, :)
  integer, target :: store(8, 8)
  type(MPI_Request) :: requests(2)
  type(MPI_Status) :: status
  type(MPI_Datatype) :: gap
  type(MPI_Win) :: win
  type(MPI_File) :: file
  character(len=60) :: name

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  left = modulo(rank - 1, size)
  right = modulo(rank + 1, size)
  a = reshape([(i, i = 1, 100)], [10, 10]) + 1000 * rank

  ! Blocking, with strides up and down.
  b = -1
  call MPI_Sendrecv(a(10:1:-3, 2::4), 12, MPI_INTEGER, right, 1, b(1::3, 9:1:-4), 12, MPI_INTEGER, left, 1, MPI_COMM_WORLD, status)
  call check(all(b(1::3, 9:1:-4) == a(10:1:-3, 2::4) + 1000 * (left - rank)), "a section in a blocking call")
  call check(count(b == -1) == 88, "a blocking call wrote beside the section")

  ! Part of a section: what is not received stays.
  b = -1
  call MPI_Sendrecv(a(::2, 1), 3, MPI_INTEGER, right, 1, b(::2, 3), 5, MPI_INTEGER, left, 1, MPI_COMM_WORLD, status)
  call check(all(b(1:5:2, 3) == a(1:5:2, 1) + 1000 * (left - rank)) .and. count(b == -1) == 97, "a part of a section")

  ! Going on: three dimensions, and a count that ends in the middle of a column.
  cube = reshape([(i, i = 1, 64)], [4, 4, 4]) + 1000 * rank
  other = -1
  call MPI_Irecv(other(::2, 2:4:2, :), 13, MPI_INTEGER, left, 2, MPI_COMM_WORLD, requests(1))
  call MPI_Isend(cube(::2, 2:4:2, :), 13, MPI_INTEGER, right, 2, MPI_COMM_WORLD, requests(2))
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  numbers = 0
  do i = 1, 3
    call check(all(other(::2, 2:4:2, i) == cube(::2, 2:4:2, i) + 1000 * (left - rank)), "a section of a cube")
  end do
  call check(other(1, 2, 4) == cube(1, 2, 4) + 1000 * (left - rank) .and. count(other == -1) == 64 - 13, "the end of a section")

  ! Persistent, with other values the second time.
  call MPI_Recv_init(b(2, ::2), 5, MPI_INTEGER, left, 3, MPI_COMM_WORLD, requests(1))
  call MPI_Send_init(a(1, ::2), 5, MPI_INTEGER, right, 3, MPI_COMM_WORLD, requests(2))
  do i = 1, 2
    a(1, :) = 7 * i + 100 * rank
    call MPI_Startall(2, requests)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call check(all(b(2, ::2) == 7 * i + 100 * left), "a section in a persistent call")
  end do
  call MPI_Request_free(requests(1))
  call MPI_Request_free(requests(2))

  ! Elements that are larger than the datatype, and smaller.
  points = [(point(i + 10 * rank, 0.5d0 * i), i = 1, 4)]
  copies = point(0, 0)
  call MPI_Irecv(copies(1:4:2), 2 * storage_size(points) / 8, MPI_BYTE, left, 4, MPI_COMM_WORLD, requests(1))
  call MPI_Isend(points(1:4:2), 2 * storage_size(points) / 8, MPI_BYTE, right, 4, MPI_COMM_WORLD, requests(2))
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  call check(copies(3)%x == 3 + 10 * left .and. copies(3)%y == 1.5d0 .and. copies(2)%x == 0, "elements of a derived type")
  words = ["abc", "def", "ghi", "jkl", "mno", "pqr"]
  got = "   "
  call MPI_Irecv(got(::2), 9, MPI_CHARACTER, left, 5, MPI_COMM_WORLD, requests(1))
  call MPI_Send(words(2::2), 9, MPI_CHARACTER, right, 5, MPI_COMM_WORLD)
  call MPI_Wait(requests(1), status)
  call check(all(got(::2) == words(2::2)) .and. all(got(2::2) == " "), "words with gaps")

  ! Scalars, allocatables, pointers to sections, nothing at all.
  heap = a(:5, :5)
  store = 0
  view => store(2:8:3, 2:8:3)
  call MPI_Sendrecv(heap(1:5:2, 1:5:2), 9, MPI_INTEGER, right, 6, view, 9, MPI_INTEGER, left, 6, MPI_COMM_WORLD, status)
  call check(view(2, 2) == a(3, 3) + 1000 * (left - rank) .and. count(store == 0) == 64 - 9, "a pointer to a section")
  call MPI_Sendrecv(rank, 1, MPI_INTEGER, right, 7, i, 1, MPI_INTEGER, left, 7, MPI_COMM_WORLD, status)
  call check(i == left, "a scalar")
  call MPI_Isend(a(1:0, :), 0, MPI_INTEGER, right, 8, MPI_COMM_WORLD, requests(1))
  call MPI_Recv(b(1:0:2, 1), 0, MPI_INTEGER, left, 8, MPI_COMM_WORLD, status)
  call MPI_Wait(requests(1), status)

  ! Collective calls, in place too.
  reals = [(i + rank, i = 1, 20)]
  back = -1
  call MPI_Allreduce(reals(1::2), back(2::2), 10, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
  call check(all(back(2::2) == size * reals(1::2) - size * rank + size * (size - 1) / 2) .and. all(back(1::2) == -1), &
             "a reduction of sections")
  call MPI_Ibcast(reals(::3), 7, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, requests(1))
  call MPI_Wait(requests(1), status)
  call check(all(reals(::3) == [(i, i = 1, 20, 3)]) .and. reals(2) == 2 + rank, "a broadcast of a section")
  call MPI_Allreduce(MPI_IN_PLACE, reals(2::3), 7 - 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD)
  call check(all(reals(2:17:3) == [(i + size - 1, i = 2, 17, 3)]), "a reduction of a section in place")

  ! One-sided, and files.
  store = 0
  call MPI_Win_create(store, 64_MPI_ADDRESS_KIND * storage_size(0) / 8, storage_size(0) / 8, MPI_INFO_NULL, MPI_COMM_WORLD, win)
  call MPI_Win_fence(0, win)
  call MPI_Put(a(2::4, 1), 2, MPI_INTEGER, right, 0_MPI_ADDRESS_KIND, 2, MPI_INTEGER, win)
  call MPI_Win_fence(0, win)
  call check(store(2, 1) == a(6, 1) + 1000 * (left - rank) .and. store(3, 1) == 0, "a section that was put")
  call MPI_Win_free(win)
  call get_environment_variable("FORTRAN_TEST_FILE", name)
  call MPI_File_open(MPI_COMM_SELF, trim(name) // achar(ichar("0") + rank), &
                     MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, file)
  call MPI_File_iwrite_at(file, 0_MPI_OFFSET_KIND, a(3, ::3), 4, MPI_INTEGER, requests(1))
  call MPI_Wait(requests(1), status)
  call MPI_File_read_at(file, 0_MPI_OFFSET_KIND, b(4, 10:1:-3), 4, MPI_INTEGER, status)
  call check(all(b(4, 10:1:-3) == a(3, ::3)), "a section in a file")
  call MPI_File_close(file)

  ! What cannot be done says so.
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
  call MPI_Type_vector(2, 1, 2, MPI_INTEGER, gap)
  call MPI_Type_commit(gap)
  requests(1) = MPI_REQUEST_NULL
  call MPI_Isend(a(::2, 1), 1, gap, right, 9, MPI_COMM_WORLD, requests(1), code)
  call refused("a datatype with gaps for a section with gaps")
  call MPI_Ialltoall(a(::2, 1), 1, MPI_INTEGER, b, 1, MPI_INTEGER, MPI_COMM_WORLD, requests(1), code)
  call refused("a section with gaps of several blocks")
  call MPI_Isend(a(::2, 1), 6, MPI_INTEGER, right, 9, MPI_COMM_WORLD, requests(1), code)
  call refused("more elements than a section has")
  call MPI_Type_free(gap)
  call MPI_Finalize()
  @end sections
contains

  subroutine refused(what)
    character(len=*), intent(in) :: what
    call MPI_Error_class(code, class)
    call MPI_Error_string(code, text, length)
    call check(class == MPI_ERR_BUFFER .and. index(text, "section with gaps") > 0, what // " is not refused: " // trim(text))
    call check(requests(1) == MPI_REQUEST_NULL, what // " leaves a request")
  end subroutine
end program
