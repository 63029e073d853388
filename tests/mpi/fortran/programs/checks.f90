! What every program checks with. The first thing that is wrong ends the job.
module checks
  implicit none
  integer, parameter :: ik = kind(0)  ! of a count that is not large
contains

  subroutine check(condition, what)
    logical, intent(in) :: condition
    character(len=*), intent(in) :: what
    if (condition) return
    print '(2a)', "WRONG: ", what
    error stop 1
  end subroutine

  ! An error code after a call that shall succeed.
  subroutine ok(code, what)
    integer, intent(in) :: code
    character(len=*), intent(in) :: what
    if (code == 0) return
    print '(3a,i0)', "WRONG: ", what, " fails with code ", code
    error stop 1
  end subroutine
end module
