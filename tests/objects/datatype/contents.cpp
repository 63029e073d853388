// Inquiries about a datatype after it was made: envelope and contents of every constructor, small and large, names,
// and that a datatype made again from its contents is the same.
#include <vector>

#include "mpi/check.hpp"

namespace {

using test::check;
using test::class_of;

template <class T>
using List = std::vector<T>;

struct Contents {
  List<int> integers;
  List<MPI_Aint> addresses;
  List<MPI_Count> counts;
  List<MPI_Datatype> types;
  int combiner;
};

Contents contents_of(MPI_Datatype type) {
  MPI_Count integers, addresses, counts, types;
  Contents c;
  MPI_Type_get_envelope_c(type, &integers, &addresses, &counts, &types, &c.combiner);
  c.integers.resize(integers);
  c.addresses.resize(addresses);
  c.counts.resize(counts);
  c.types.resize(types);
  MPI_Type_get_contents_c(type, integers, addresses, counts, types, c.integers.data(), c.addresses.data(),
                          c.counts.data(), c.types.data());
  return c;
}

// Checks the contents, also those that the small function gives, and frees the type.
void expect(MPI_Datatype type, int combiner, const List<int>& integers, const List<MPI_Aint>& addresses,
            const List<MPI_Count>& counts, std::size_t types,
            std::source_location at = std::source_location::current()) {
  Contents c = contents_of(type);
  test::equal(c.combiner, combiner, "combiner", at);
  check(c.integers == integers, "integers", at);
  check(c.addresses == addresses, "addresses", at);
  check(c.counts == counts, "large counts", at);
  test::equal(static_cast<long long>(c.types.size()), static_cast<long long>(types), "datatypes", at);

  int ni, na, nd, small_combiner;
  const int error = MPI_Type_get_envelope(type, &ni, &na, &nd, &small_combiner);
  if (counts.empty()) {
    test::equal(error, MPI_SUCCESS, "small envelope", at);
    test::equal(ni, static_cast<int>(integers.size()), "small envelope", at);
    test::equal(na, static_cast<int>(addresses.size()), "small envelope", at);
    List<int> i(ni);
    List<MPI_Aint> a(na);
    List<MPI_Datatype> d(nd);
    MPI_Type_get_contents(type, ni, na, nd, i.data(), a.data(), d.data());
    check(i == integers && a == addresses, "small contents", at);
  } else {
    int error_class;
    MPI_Error_class(error, &error_class);
    test::equal(error_class, MPI_ERR_TYPE, "the small function cannot say it", at);
  }
  MPI_Type_free(&type);
  check(type == MPI_DATATYPE_NULL, "free sets the handle to null", at);
}

void constructors() {
  MPI_Datatype t;
  MPI_Type_dup(MPI_INT, &t);
  expect(t, MPI_COMBINER_DUP, {}, {}, {}, 1);
  MPI_Type_contiguous(3, MPI_INT, &t);
  expect(t, MPI_COMBINER_CONTIGUOUS, {3}, {}, {}, 1);
  MPI_Type_contiguous_c(3, MPI_INT, &t);
  expect(t, MPI_COMBINER_CONTIGUOUS, {}, {}, {3}, 1);
  MPI_Type_vector(3, 2, -4, MPI_INT, &t);
  expect(t, MPI_COMBINER_VECTOR, {3, 2, -4}, {}, {}, 1);
  MPI_Type_vector_c(3, 2, -4, MPI_INT, &t);
  expect(t, MPI_COMBINER_VECTOR, {}, {}, {3, 2, -4}, 1);
  MPI_Type_create_hvector(3, 2, 40, MPI_INT, &t);
  expect(t, MPI_COMBINER_HVECTOR, {3, 2}, {40}, {}, 1);
  MPI_Type_create_hvector_c(3, 2, 40, MPI_INT, &t);
  expect(t, MPI_COMBINER_HVECTOR, {}, {}, {3, 2, 40}, 1);

  const int lengths[] = {1, 2}, displacements[] = {5, 9};
  const MPI_Aint bytes[] = {40, 80};
  const MPI_Count large_lengths[] = {1, 2}, large_displacements[] = {5, 9};
  MPI_Type_indexed(2, lengths, displacements, MPI_INT, &t);
  expect(t, MPI_COMBINER_INDEXED, {2, 1, 2, 5, 9}, {}, {}, 1);
  MPI_Type_indexed_c(2, large_lengths, large_displacements, MPI_INT, &t);
  expect(t, MPI_COMBINER_INDEXED, {}, {}, {2, 1, 2, 5, 9}, 1);
  MPI_Type_create_hindexed(2, lengths, bytes, MPI_INT, &t);
  expect(t, MPI_COMBINER_HINDEXED, {2, 1, 2}, {40, 80}, {}, 1);
  MPI_Type_create_hindexed_c(2, large_lengths, large_displacements, MPI_INT, &t);
  expect(t, MPI_COMBINER_HINDEXED, {}, {}, {2, 1, 2, 5, 9}, 1);
  MPI_Type_create_indexed_block(2, 7, displacements, MPI_INT, &t);
  expect(t, MPI_COMBINER_INDEXED_BLOCK, {2, 7, 5, 9}, {}, {}, 1);
  MPI_Type_create_indexed_block_c(2, 7, large_displacements, MPI_INT, &t);
  expect(t, MPI_COMBINER_INDEXED_BLOCK, {}, {}, {2, 7, 5, 9}, 1);
  MPI_Type_create_hindexed_block(2, 7, bytes, MPI_INT, &t);
  expect(t, MPI_COMBINER_HINDEXED_BLOCK, {2, 7}, {40, 80}, {}, 1);
  MPI_Type_create_hindexed_block_c(2, 7, large_displacements, MPI_INT, &t);
  expect(t, MPI_COMBINER_HINDEXED_BLOCK, {}, {}, {2, 7, 5, 9}, 1);
  const MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE};
  MPI_Type_create_struct(2, lengths, bytes, types, &t);
  expect(t, MPI_COMBINER_STRUCT, {2, 1, 2}, {40, 80}, {}, 2);
  MPI_Type_create_struct_c(2, large_lengths, large_displacements, types, &t);
  expect(t, MPI_COMBINER_STRUCT, {}, {}, {2, 1, 2, 5, 9}, 2);
  MPI_Type_create_resized(MPI_INT, -4, 16, &t);
  expect(t, MPI_COMBINER_RESIZED, {}, {-4, 16}, {}, 1);
  MPI_Type_create_resized_c(MPI_INT, -4, 16, &t);
  expect(t, MPI_COMBINER_RESIZED, {}, {}, {-4, 16}, 1);

  const int sizes[] = {4, 5}, subsizes[] = {2, 3}, starts[] = {1, 2};
  const MPI_Count large_sizes[] = {4, 5}, large_subsizes[] = {2, 3}, large_starts[] = {1, 2};
  MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C, MPI_INT, &t);
  expect(t, MPI_COMBINER_SUBARRAY, {2, 4, 5, 2, 3, 1, 2, MPI_ORDER_C}, {}, {}, 1);
  MPI_Type_create_subarray_c(2, large_sizes, large_subsizes, large_starts, MPI_ORDER_C, MPI_INT, &t);
  expect(t, MPI_COMBINER_SUBARRAY, {2, MPI_ORDER_C}, {}, {4, 5, 2, 3, 1, 2}, 1);
  const int distribs[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
  const int dargs[] = {MPI_DISTRIBUTE_DFLT_DARG, 2}, psizes[] = {2, 3};
  MPI_Type_create_darray(6, 4, 2, sizes, distribs, dargs, psizes, MPI_ORDER_FORTRAN, MPI_INT, &t);
  expect(t, MPI_COMBINER_DARRAY, {6, 4, 2, 4, 5, distribs[0], distribs[1], dargs[0], dargs[1], 2, 3, MPI_ORDER_FORTRAN},
         {}, {}, 1);
  MPI_Type_create_darray_c(6, 4, 2, large_sizes, distribs, dargs, psizes, MPI_ORDER_FORTRAN, MPI_INT, &t);
  expect(t, MPI_COMBINER_DARRAY, {6, 4, 2, distribs[0], distribs[1], dargs[0], dargs[1], 2, 3, MPI_ORDER_FORTRAN}, {},
         {4, 5}, 1);
}

// A type lives on in what was made of it, and comes back as a handle of its own.
void inner_types_outlive_their_handles() {
  MPI_Datatype inner, outer;
  MPI_Type_vector(2, 1, 3, MPI_INT, &inner);
  MPI_Type_contiguous(2, inner, &outer);
  MPI_Type_free(&inner);
  Contents c = contents_of(outer);
  const Contents again = contents_of(c.types[0]);
  test::equal(again.combiner, MPI_COMBINER_VECTOR);
  check(again.integers == List<int>{2, 1, 3});
  check(again.types[0] == MPI_INT, "named types come back as they are");
  MPI_Type_free(&c.types[0]);
  MPI_Type_commit(&outer);
  int numbers[16] = {}, packed[4] = {1, 2, 3, 4};
  int position = 0;
  MPI_Unpack(packed, sizeof packed, &position, numbers, 1, outer, MPI_COMM_SELF);
  test::equal(position, 16);
  check(numbers[0] == 1 && numbers[3] == 2 && numbers[4] == 3 && numbers[7] == 4, "the layout is still there");
  MPI_Type_free(&outer);
}

void statuses() {
  MPI_Datatype both;
  const int lengths[] = {1, 1};
  const MPI_Aint places[] = {0, 8};
  const MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE};
  MPI_Type_create_struct(2, lengths, places, types, &both);
  MPI_Status status;
  for (int elements = 0; elements < 7; ++elements) {
    MPI_Status_set_elements(&status, both, elements);
    int count, got;
    MPI_Get_elements(&status, both, &got);
    test::equal(got, elements);
    MPI_Get_count(&status, both, &count);
    test::equal(count, elements % 2 == 0 ? elements / 2 : int{MPI_UNDEFINED});
  }
  MPI_Status_set_elements_c(&status, MPI_BYTE, MPI_Count{1} << 33);
  int small;
  MPI_Count large;
  MPI_Get_count(&status, MPI_BYTE, &small);
  test::equal(small, MPI_UNDEFINED, "more than an int holds");
  MPI_Get_count_c(&status, MPI_BYTE, &large);
  test::equal(large, MPI_Count{1} << 33);
  MPI_Type_free(&both);
}

void errors() {
  MPI_Datatype t = MPI_INT;
  test::equal(class_of(MPI_Type_free(&t)), MPI_ERR_TYPE, "a predefined type is not freed");
  test::equal(class_of(MPI_Type_contiguous(-1, MPI_INT, &t)), MPI_ERR_COUNT);
  test::equal(class_of(MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &t)), MPI_ERR_TYPE);
  test::equal(class_of(MPI_Type_contiguous_c(MPI_Count{1} << 62, MPI_INT, &t)), MPI_ERR_ARG);
  const int size = 4, subsize = 3, start = 2;
  test::equal(class_of(MPI_Type_create_subarray(1, &size, &subsize, &start, MPI_ORDER_C, MPI_INT, &t)), MPI_ERR_ARG);
  MPI_Type_vector(2, 1, 2, MPI_INT, &t);
  int numbers[4] = {}, position = 0;
  test::equal(class_of(MPI_Pack(numbers, 1, t, numbers, 16, &position, MPI_COMM_SELF)), MPI_ERR_TYPE, "not committed");
  MPI_Type_commit(&t);
  MPI_Type_commit(&t);
  test::equal(class_of(MPI_Pack(numbers, 1, t, numbers, 7, &position, MPI_COMM_SELF)), MPI_ERR_TRUNCATE);
  test::equal(class_of(MPI_Reduce_local(numbers, numbers + 2, 1, t, MPI_SUM)), MPI_ERR_OP);
  test::equal(class_of(MPI_Reduce_local(numbers, numbers + 2, 1, MPI_WCHAR, MPI_SUM)), MPI_ERR_OP);
  const MPI_Datatype dangling = t;
  MPI_Type_free(&t);
  t = dangling;
  test::equal(class_of(MPI_Type_commit(&t)), MPI_ERR_TYPE, "freed");
  MPI_Op op = MPI_SUM;
  test::equal(class_of(MPI_Op_free(&op)), MPI_ERR_OP);
}

void names() {
  char name[MPI_MAX_OBJECT_NAME];
  int length;
  MPI_Type_get_name(MPI_DATATYPE_NULL, name, &length);
  check(std::strcmp(name, "MPI_DATATYPE_NULL") == 0);
  MPI_Type_set_name(MPI_INT, "number");
  MPI_Type_get_name(MPI_C_COMPLEX, name, &length);
  check(std::string(name) == "MPI_C_COMPLEX", "name of a datatype with a synonym");
  MPI_Type_get_name(MPI_INT, name, &length);
  check(std::strcmp(name, "number") == 0 && length == 6);
  MPI_Type_set_name(MPI_INT, "MPI_INT");
  MPI_Datatype t;
  MPI_Type_dup(MPI_INT, &t);
  MPI_Type_get_name(t, name, &length);
  check(length == 0, "a derived type has no name");
  MPI_Type_free(&t);
}

}  // namespace

int main(int argc, char** argv) {
  test::Session session(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  constructors();
  inner_types_outlive_their_handles();
  statuses();
  errors();
  names();
}
