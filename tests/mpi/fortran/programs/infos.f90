! Info objects: characters in both directions, with blanks on both sides.
program infos
  @use
  use checks
  implicit none
  @include
  integer :: e, keys, length
  logical :: flag
  character(len=MPI_MAX_INFO_KEY) :: key
  character(len=20) :: value
  @Info :: info, copy

  call MPI_Init(e)
  call MPI_Info_create(info, e)
  call ok(e, "MPI_Info_create")
  call MPI_Info_set(info, "  colour ", " red and green  ", e)
  call ok(e, "MPI_Info_set")
  call MPI_Info_set(info, "size", "7", e)
  call MPI_Info_get_nkeys(info, keys, e)
  call check(keys == 2, "the number of keys")
  call MPI_Info_get_nthkey(info, 0, key, e)
  call check(key == "colour", "the first key is '" // trim(key) // "'")

  value = "????????????????????"
  call MPI_Info_get(info, "colour", len(value), value, flag, e)
  call check(flag .and. value == "red and green", "a value is '" // value // "'")
  value = "????????????????????"
  call MPI_Info_get(info, "colour ", 3, value, flag, e)
  call check(flag .and. value == "red", "the start of a value is '" // value // "'")
  value = "unchanged"
  call MPI_Info_get(info, "shape", len(value), value, flag, e)
  call check(.not. flag .and. value == "unchanged", "a key that is not there")
  call MPI_Info_get_valuelen(info, "colour", length, flag, e)
  call check(flag .and. length == 13, "the length of a value")
  length = len(value)
  value = "????????????????????"
  call MPI_Info_get_string(info, "colour", length, value, flag, e)
  call check(flag .and. length == 13 .and. value == "red and green", "a string is '" // value // "'")
  length = 3
  value = "????????????????????"
  call MPI_Info_get_string(info, "colour", length, value, flag, e)
  call check(flag .and. length == 13 .and. value(:3) == "red", "the start of a string is '" // value // "'")
  length = 0
  value = "unchanged"
  call MPI_Info_get_string(info, "colour", length, value, flag, e)
  call check(flag .and. length == 13 .and. value == "unchanged", "the length of a string")
  length = 5
  call MPI_Info_get_string(info, "shape", length, value, flag, e)
  call check(.not. flag .and. length == 5 .and. value == "unchanged", "a string that is not there")

  call MPI_Info_dup(info, copy, e)
  call MPI_Info_delete(info, "size", e)
  call ok(e, "MPI_Info_delete")
  call MPI_Info_get_nkeys(info, keys, e)
  call check(keys == 1, "the number of keys after one was deleted")
  call MPI_Info_get_nkeys(copy, keys, e)
  call check(keys == 2, "the number of keys of the copy")
  call MPI_Info_free(copy, e)
  call MPI_Info_free(info, e)
  call check(info == MPI_INFO_NULL .and. copy == MPI_INFO_NULL, "infos that were freed")
  call MPI_Info_create_env(info, e)
  call ok(e, "MPI_Info_create_env")
  call MPI_Info_free(info, e)
  call MPI_Finalize(e)
  @end infos
end program
