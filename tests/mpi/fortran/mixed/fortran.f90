! Attributes and statuses that are shared with C (c.c, which calls these): MPI 5.0, sections 19.3.5 and 19.3.7.
module kept
  use mpi
  implicit none
  integer :: deleted = 0
  integer(MPI_ADDRESS_KIND) :: last_deleted = 0
contains
  subroutine copy_plus_one(comm, key, extra, in, out, flag, e)
    integer :: comm, key, e
    integer(MPI_ADDRESS_KIND) :: extra, in, out
    logical :: flag
    out = in + 1
    flag = .true.
    e = MPI_SUCCESS
  end subroutine
  subroutine count_deleted(comm, key, value, extra, e)
    integer :: comm, key, e
    integer(MPI_ADDRESS_KIND) :: value, extra
    deleted = deleted + 1
    last_deleted = value
    e = MPI_SUCCESS
  end subroutine
end module

! 1: copied by a procedure of Fortran's; 2: by MPI_COMM_DUP_FN and its like
subroutine f_keyvals(which, comm_key, type_key, win_key) bind(c)
  use kept
  integer :: which, comm_key, type_key, win_key, e
  if (which == 1) then
    call MPI_Comm_create_keyval(copy_plus_one, count_deleted, comm_key, 0_MPI_ADDRESS_KIND, e)
  else
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, comm_key, 0_MPI_ADDRESS_KIND, e)
  end if
  call MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, type_key, 0_MPI_ADDRESS_KIND, e)
  call MPI_Win_create_keyval(MPI_WIN_DUP_FN, MPI_WIN_NULL_DELETE_FN, win_key, 0_MPI_ADDRESS_KIND, e)
end subroutine

subroutine f_old_keyval(key) bind(c)
  use mpi
  integer :: key, e
  call MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, key, 0, e)
end subroutine

! 1: a communicator's, 2: a datatype's, 3: a window's, 4: a communicator's with the functions of MPI-1
subroutine f_set(kind, object, key, value) bind(c)
  use mpi
  integer :: kind, object, key, e
  integer(MPI_ADDRESS_KIND) :: value
  select case (kind)
  case (1); call MPI_Comm_set_attr(object, key, value, e)
  case (2); call MPI_Type_set_attr(object, key, value, e)
  case (3); call MPI_Win_set_attr(object, key, value, e)
  case (4); call MPI_Attr_put(object, key, int(value), e)
  end select
end subroutine

subroutine f_get(kind, object, key, value, found) bind(c)
  use mpi
  integer :: kind, object, key, found, e, old
  integer(MPI_ADDRESS_KIND) :: value
  logical :: flag
  select case (kind)
  case (1); call MPI_Comm_get_attr(object, key, value, flag, e)
  case (2); call MPI_Type_get_attr(object, key, value, flag, e)
  case (3); call MPI_Win_get_attr(object, key, value, flag, e)
  case (4)
    call MPI_Attr_get(object, key, old, flag, e)
    value = old
  end select
  found = merge(1, 0, flag)
end subroutine

subroutine f_deleted(count, last) bind(c)
  use kept
  integer :: count
  integer(MPI_ADDRESS_KIND) :: last
  count = deleted
  last = last_deleted
end subroutine

! Which of C's four sentinels each of Fortran's is.
subroutine f_sentinels() bind(c)
  use mpi
  interface
    subroutine c_sentinel(status, which) bind(c)
      integer :: status(*), which
    end subroutine
  end interface
  call c_sentinel(MPI_STATUS_IGNORE, 1)
  call c_sentinel(MPI_STATUSES_IGNORE, 2)
end subroutine

subroutine f08_sentinels() bind(c)
  use mpi_f08
  interface
    subroutine c_f08_sentinel(status, which) bind(c)
      import MPI_Status
      type(MPI_Status) :: status(*)
      integer :: which
    end subroutine
    subroutine c_f08_sentinel_alone(status, which) bind(c, name="c_f08_sentinel")
      import MPI_Status
      type(MPI_Status) :: status
      integer :: which
    end subroutine
  end interface
  call c_f08_sentinel_alone(MPI_STATUS_IGNORE, 3)
  call c_f08_sentinel(MPI_STATUSES_IGNORE, 4)
end subroutine

subroutine f77_sentinels() bind(c)
  include "mpif.h"
  interface
    subroutine c_sentinel(status, which) bind(c)
      integer :: status(*), which
    end subroutine
  end interface
  call c_sentinel(MPI_STATUS_IGNORE, 1)
  call c_sentinel(MPI_STATUSES_IGNORE, 2)
end subroutine
