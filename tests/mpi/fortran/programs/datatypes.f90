! Datatypes: how they were made, as Fortran asks for it, their sizes, names, and packing.
program datatypes
  @use
  use checks
  implicit none
  @include
  integer, parameter :: bytes = storage_size(0) / 8
  integer :: e, i, rank, size, length, elements
  integer :: source(12), target(12)
  integer(@K) :: n, count, lengths(2), places(2), position, room
  integer(MPI_ADDRESS_KIND) :: lower, extent, displacements(2), external_room, external_position
  integer(MPI_COUNT_KIND) :: large, large_lower, large_extent
  character(len=400) :: packed
  character(len=MPI_MAX_OBJECT_NAME) :: name
  logical :: flag
  @Datatype :: made, other, types(2)
  @Status :: status

  call MPI_Init(e)
  call MPI_Comm_rank(MPI_COMM_SELF, rank, e)
  call MPI_Comm_size(MPI_COMM_SELF, size, e)
  source = [(i, i = 1, 12)]

  n = 3
  call MPI_Type_contiguous(n, MPI_INTEGER, made, e)
  call contents(made, MPI_COMBINER_CONTIGUOUS, [3], [integer(MPI_ADDRESS_KIND) ::], MPI_INTEGER, 3 * bytes)
  call MPI_Type_vector(2_@K, 1_@K, 4_@K, MPI_INTEGER, made, e)
  call contents(made, MPI_COMBINER_VECTOR, [2, 1, 4], [integer(MPI_ADDRESS_KIND) ::], MPI_INTEGER, 2 * bytes)
  call MPI_Type_create_hvector(2_@K, 1_@K, 16_@A, MPI_INTEGER, made, e)
  call contents(made, MPI_COMBINER_HVECTOR, [2, 1], [16_MPI_ADDRESS_KIND], MPI_INTEGER, 2 * bytes)
  lengths = [2, 1]
  places = [0, 5]
  call MPI_Type_indexed(2_@K, lengths, places, MPI_INTEGER, made, e)
  call contents(made, MPI_COMBINER_INDEXED, [2, 2, 1, 0, 5], [integer(MPI_ADDRESS_KIND) ::], MPI_INTEGER, 3 * bytes)
  displacements = [0, 40]
  call MPI_Type_create_hindexed(2_@K, lengths, displacements, MPI_INTEGER, made, e)
  call contents(made, MPI_COMBINER_HINDEXED, [2, 2, 1], displacements, MPI_INTEGER, 3 * bytes)
  call MPI_Type_create_indexed_block(2_@K, 2_@K, places, MPI_INTEGER, made, e)
  call contents(made, MPI_COMBINER_INDEXED_BLOCK, [2, 2, 0, 5], [integer(MPI_ADDRESS_KIND) ::], MPI_INTEGER, 4 * bytes)
  call MPI_Type_create_hindexed_block(2_@K, 2_@K, displacements, MPI_INTEGER, made, e)
  call contents(made, MPI_COMBINER_HINDEXED_BLOCK, [2, 2], displacements, MPI_INTEGER, 4 * bytes)
  types = MPI_INTEGER
  call MPI_Type_create_struct(2_@K, lengths, displacements, types, made, e)
  call contents(made, MPI_COMBINER_STRUCT, [2, 2, 1], displacements, MPI_INTEGER, 3 * bytes)
  call MPI_Type_create_resized(MPI_INTEGER, -8_@A, 32_@A, made, e)
  call contents(made, MPI_COMBINER_RESIZED, [integer ::], [-8_MPI_ADDRESS_KIND, 32_MPI_ADDRESS_KIND], MPI_INTEGER, bytes)
  call MPI_Type_create_subarray(2, [4_@K, 3_@K], [2_@K, 1_@K], [1_@K, 2_@K], MPI_ORDER_FORTRAN, MPI_INTEGER, made, e)
  call contents(made, MPI_COMBINER_SUBARRAY, [2, 4, 3, 2, 1, 1, 2, MPI_ORDER_FORTRAN], &
                [integer(MPI_ADDRESS_KIND) ::], MPI_INTEGER, 2 * bytes)
  call MPI_Type_create_darray(2, 1, 2, [4_@K, 4_@K], [MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC], &
                              [MPI_DISTRIBUTE_DFLT_DARG, 1], [2, 1], MPI_ORDER_FORTRAN, MPI_INTEGER, made, e)
  call contents(made, MPI_COMBINER_DARRAY, &
                [2, 1, 2, 4, 4, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_DFLT_DARG, 1, 2, 1, &
                 MPI_ORDER_FORTRAN], [integer(MPI_ADDRESS_KIND) ::], MPI_INTEGER, 8 * bytes)
  call MPI_Type_dup(MPI_INTEGER, made, e)
  call contents(made, MPI_COMBINER_DUP, [integer ::], [integer(MPI_ADDRESS_KIND) ::], MPI_INTEGER, bytes)

  call MPI_Type_create_f90_integer(9, made, e)
  call MPI_Type_size(made, n, e)
  call check(n == storage_size(0_4) / 8, "the size of an integer of 9 digits")
  call MPI_Type_create_f90_real(12, 100, made, e)
  call MPI_Type_size(made, n, e)
  call check(n == 8, "the size of a real of 12 digits")
  call MPI_Type_create_f90_complex(5, 30, made, e)
  call MPI_Type_size(made, n, e)
  call check(n == 8, "the size of a complex of 5 digits")
  call MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, made, e)
  call ok(e, "MPI_Type_match_size")
  call MPI_Type_size(made, n, e)
  call check(n == 8, "the size of the real that has 8 bytes")
  call MPI_Type_get_value_index(MPI_DOUBLE_PRECISION, MPI_INTEGER, made, e)
  call check(e == MPI_SUCCESS, "MPI_Type_get_value_index")

  ! Every second of six, from the second.
  call MPI_Type_vector(3_@K, 1_@K, 2_@K, MPI_INTEGER, other, e)
  call MPI_Type_create_hindexed_block(1_@K, 1_@K, [int(bytes, @A)], other, made, e)
  call MPI_Type_commit(made, e)
  call ok(e, "MPI_Type_commit")
  call extents(made)
  call MPI_Type_set_name(made, " every second   ", e)
  name = repeat("?", len(name))
  call MPI_Type_get_name(made, name, length, e)
  call check(length == 13 .and. name == " every second", "the name of a datatype is '" // trim(name) // "'")

  call MPI_Pack_size(1_@K, made, MPI_COMM_SELF, room, e)
  call check(room >= 3 * bytes .and. room <= len(packed), "the room that packing needs")
  position = 0
  call MPI_Pack(source, 1_@K, made, packed, room, position, MPI_COMM_SELF, e)
  call ok(e, "MPI_Pack")
  call check(position > 0 .and. position <= room, "the position after packing")
  room = position
  position = 0
  target = 0
  call MPI_Unpack(packed, room, position, target, 1_@K, made, MPI_COMM_SELF, e)
  call check(position == room, "the position after unpacking")
  call check(all(target == [0, 2, 0, 4, 0, 6, 0, 0, 0, 0, 0, 0]), "what was unpacked")

  call MPI_Pack_external_size("external32", 3_@K, MPI_INTEGER4, external_room, e)
  call check(external_room == 12, "the size of integers in external32")
  external_position = 0
  call MPI_Pack_external("external32 ", [1_4, 2_4, 3_4], 3_@K, MPI_INTEGER4, packed, external_room, external_position, e)
  call ok(e, "MPI_Pack_external")
  call check(external_position == 12 .and. ichar(packed(4:4)) == 1 .and. ichar(packed(12:12)) == 3, "integers in external32")
  external_position = 0
  call unpack_external()

  ! A message of 5 elements for a datatype of 3: not a whole number of them.
  call MPI_Sendrecv(source, 5_@K, MPI_INTEGER, 0, 1, target, 6_@K, MPI_INTEGER, 0, 1, MPI_COMM_SELF, status, e)
  call MPI_Get_count(status, MPI_INTEGER, count, e)
  call check(count == 5, "the count of a status")
  call MPI_Get_count(status, made, count, e)
  call check(count == MPI_UNDEFINED, "the count of a datatype that does not fit")
  call MPI_Get_elements(status, made, count, e)
  call check(count == 5, "the elements of a status")
  call MPI_Get_elements_x(status, made, large, e)
  call check(large == 5, "the elements of a status as a large count")
  call MPI_Status_set_elements(status, made, 4_@K, e)
  call MPI_Get_elements_x(status, made, large, e)
  call check(large == 4, "the elements of a status that were set")
  call MPI_Status_set_elements_x(status, MPI_INTEGER, 2_MPI_COUNT_KIND, e)
  call MPI_Get_elements(status, MPI_INTEGER, count, e)
  call check(count == 2, "the elements of a status that were set as a large count")
  call MPI_Status_set_cancelled(status, .true., e)
  call MPI_Test_cancelled(status, flag, e)
  call check(flag, "a status that is marked as cancelled")
  call MPI_Status_set_source(status, 3, e)
  call MPI_Status_set_tag(status, 4, e)
  call MPI_Status_set_error(status, MPI_ERR_TAG, e)
  call check(@source(status) == 3 .and. @tag(status) == 4 .and. @error(status) == MPI_ERR_TAG, "what was set in a status")
  call MPI_Status_get_source(status, i, e)
  call check(i == 3, "the source of a status")
  call MPI_Status_get_tag(status, i, e)
  call check(i == 4, "the tag of a status")
  call MPI_Status_get_error(status, i, e)
  call check(i == MPI_ERR_TAG, "the error of a status")

  ! From where nothing is, by the address.
  call MPI_Type_free(made, e)
  call MPI_Get_address(source, extent, e)
  call MPI_Type_create_hindexed_block(1_@K, 3_@K, [extent], MPI_INTEGER, made, e)
  call MPI_Type_commit(made, e)
  target = 0
  call MPI_F_sync_reg(source)
  call MPI_Sendrecv(MPI_BOTTOM, 1_@K, made, 0, 1, target, 3_@K, MPI_INTEGER, 0, 1, MPI_COMM_SELF, status, e)
  call check(sum(target(:3)) == 6, "a message from MPI_BOTTOM")
  call MPI_Type_free(made, e)
  call check(made == MPI_DATATYPE_NULL, "a datatype that was freed")
  call MPI_Type_free(other, e)
  call MPI_Finalize(e)
  @end datatypes
contains

  ! Whether the datatype tells with what it was made, and its size; frees it.
  subroutine contents(made, combiner, integers, addresses, of, bytes)
    @Datatype, intent(inout) :: made
    @Datatype, intent(in) :: of
    integer, intent(in) :: combiner, integers(:), bytes
    integer(MPI_ADDRESS_KIND), intent(in) :: addresses(:)
    @Datatype :: got_types(4)
    integer(MPI_ADDRESS_KIND) :: got_addresses(8)
    integer(MPI_COUNT_KIND) :: size, got_counts(20), counts(4)
    integer :: got(20), is, numbers(4), e, i
    call MPI_Type_size_x(made, size, e)
    call check(size == bytes, "the size of a datatype")
    @if large
    call MPI_Type_get_envelope(made, counts(1), counts(2), counts(4), counts(3), is, e)
    call ok(e, "MPI_Type_get_envelope")
    call check(is == combiner, "the combiner of a datatype")
    call check(counts(1) + counts(2) + counts(4) == ubound(integers, 1) + ubound(addresses, 1), "the numbers of a datatype")
    call MPI_Type_get_contents(made, 20_MPI_COUNT_KIND, 8_MPI_COUNT_KIND, 20_MPI_COUNT_KIND, 4_MPI_COUNT_KIND, &
                               got, got_addresses, got_counts, got_types, e)
    call ok(e, "MPI_Type_get_contents")
    call check(sum(got(:counts(1))) + sum(got_addresses(:counts(2))) + sum(got_counts(:counts(4))) == &
               sum(integers) + sum(addresses), "the contents of a datatype")
    @else
    call MPI_Type_get_envelope(made, numbers(1), numbers(2), numbers(3), is, e)
    call ok(e, "MPI_Type_get_envelope")
    call check(is == combiner, "the combiner of a datatype")
    call check(numbers(1) == ubound(integers, 1) .and. numbers(2) == ubound(addresses, 1), "the numbers of a datatype")
    call MPI_Type_get_contents(made, 20, 8, 4, got, got_addresses, got_types, e)
    call ok(e, "MPI_Type_get_contents")
    call check(all(got(:numbers(1)) == integers), "the integers of a datatype")
    call check(all(got_addresses(:numbers(2)) == addresses), "the addresses of a datatype")
    @end_if
    call check(got_types(1) == of, "the datatype of a datatype")
    call MPI_Type_free(made, e)
    call ok(e, "MPI_Type_free")
  end subroutine

  subroutine extents(made)
    @Datatype, intent(in) :: made
    integer(@A) :: lower, extent
    integer(@K) :: size
    integer :: e
    call MPI_Type_size(made, size, e)
    call check(size == 3 * bytes, "the size")
    call MPI_Type_get_extent(made, lower, extent, e)
    call check(lower == bytes .and. extent == 5 * bytes, "the extent")
    call MPI_Type_get_true_extent(made, lower, extent, e)
    call check(lower == bytes .and. extent == 5 * bytes, "the true extent")
    call MPI_Type_get_extent_x(made, large_lower, large_extent, e)
    call check(large_lower == bytes .and. large_extent == 5 * bytes, "the extent as large counts")
    call MPI_Type_get_true_extent_x(made, large_lower, large_extent, e)
    call check(large_lower == bytes .and. large_extent == 5 * bytes, "the true extent as large counts")
  end subroutine

  subroutine unpack_external()
    integer(4) :: back(3)
    call MPI_Unpack_external("external32", packed, external_room, external_position, back, 3_@K, MPI_INTEGER4, e)
    call check(external_position == 12 .and. all(back == [1, 2, 3]), "integers out of external32")
  end subroutine
end program
