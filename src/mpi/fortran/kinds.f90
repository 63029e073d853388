! What the compiler's LOGICAL looks like in memory.
module heddle_kinds
  use, intrinsic :: iso_c_binding, only: c_int, c_loc
  implicit none
  logical, bind(C, name="heddle_fortran_true"), protected :: yes = .true.
  logical, bind(C, name="heddle_fortran_false"), protected :: no = .false.
end module
