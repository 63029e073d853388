// Datatypes chosen by the properties of a number (MPI 5.0, sections 5.1.11, 19.1.5).
#include "objects/binding/impl.hpp"
#include "objects/datatype/unnamed.hpp"
#include "objects/object/resolve.hpp"

namespace heddle::mpi {
namespace {

// The results of Fortran's intrinsic functions for the available reals and integers; smallest first.
struct Real {
  int precision, range;
  Element real, complex;
};
constexpr Real reals[] = {
    {6, 37, Element::f32, Element::c32},
    {15, 307, Element::f64, Element::c64},
    {18, 4931, Element::fx, Element::cx},
    {33, 4931, Element::f128, Element::c128},
};
struct Integer {
  int range;
  Element element;
};
constexpr Integer integers[] = {
    {2, Element::i8}, {4, Element::i16}, {9, Element::i32}, {18, Element::i64}, {38, Element::i128},
};

// An undefined property matches everything, but one must be defined.
Error find_real(int p, int r, const Real*& found) {
  if (p == MPI_UNDEFINED && r == MPI_UNDEFINED) return fail(MPI_ERR_ARG, "p and r are both MPI_UNDEFINED");
  for (const Real& real : reals) {
    if ((p == MPI_UNDEFINED || p <= real.precision) && (r == MPI_UNDEFINED || r <= real.range)) {
      found = &real;
      return success;
    }
  }
  return fail(MPI_ERR_ARG, "no real number has %d decimal digits and the exponent range %d", p, r);
}

struct Pair {
  MPI_Datatype value, index, type;
};

struct Sized {
  int size;
  MPI_Datatype type;
};

template <std::size_t n>
Error match(const Sized (&types)[n], const char* what, int size, MPI_Datatype* datatype) {
  for (const Sized& candidate : types) {
    if (candidate.size == size) {
      *datatype = candidate.type;
      return success;
    }
  }
  return fail(MPI_ERR_ARG, "size is %d; there is no %s type of that size", size, what);
}

}  // namespace

Error Type_create_f90_real(int p, int r, MPI_Datatype* newtype) {
  const Real* found = nullptr;
  if (Error e = find_real(p, r, found)) return e;
  *newtype = handle_of<MPI_Datatype>(datatype::unnamed_f90(MPI_COMBINER_F90_REAL, p, r, found->real));
  return success;
}

Error Type_create_f90_complex(int p, int r, MPI_Datatype* newtype) {
  const Real* found = nullptr;
  if (Error e = find_real(p, r, found)) return e;
  *newtype = handle_of<MPI_Datatype>(datatype::unnamed_f90(MPI_COMBINER_F90_COMPLEX, p, r, found->complex));
  return success;
}

Error Type_create_f90_integer(int r, MPI_Datatype* newtype) {
  for (const Integer& integer : integers) {
    if (r <= integer.range) {
      *newtype = handle_of<MPI_Datatype>(datatype::unnamed_f90(MPI_COMBINER_F90_INTEGER, 0, r, integer.element));
      return success;
    }
  }
  return fail(MPI_ERR_ARG, "no integer has the decimal range %d", r);
}

Error Type_match_size(int typeclass, int size, MPI_Datatype* datatype) {
  switch (typeclass) {
    case MPI_TYPECLASS_INTEGER:
      return match({{1, MPI_INTEGER1}, {2, MPI_INTEGER2}, {4, MPI_INTEGER4}, {8, MPI_INTEGER8}, {16, MPI_INTEGER16}},
                   "integer", size, datatype);
    case MPI_TYPECLASS_REAL:
      return match({{2, MPI_REAL2}, {4, MPI_REAL4}, {8, MPI_REAL8}, {16, MPI_REAL16}}, "real", size, datatype);
    case MPI_TYPECLASS_COMPLEX:
      return match({{4, MPI_COMPLEX4}, {8, MPI_COMPLEX8}, {16, MPI_COMPLEX16}, {32, MPI_COMPLEX32}}, "complex", size,
                   datatype);
    case MPIX_TYPECLASS_LOGICAL:
      return match({{1, MPI_LOGICAL1}, {2, MPI_LOGICAL2}, {4, MPI_LOGICAL4}, {8, MPI_LOGICAL8}, {16, MPI_LOGICAL16}},
                   "logical", size, datatype);
    default:
      return fail(MPI_ERR_ARG, "typeclass is %d, which is none of the standard's", typeclass);
  }
}

// Only the pairs that have a name; for others the standard wants MPI_DATATYPE_NULL.
Error Type_get_value_index(const Datatype& value_type, const Datatype& index_type, MPI_Datatype* pair_type) {
  const auto is = [](const Datatype& type, MPI_Datatype constant) { return predefined_datatype(constant) == &type; };
  *pair_type = MPI_DATATYPE_NULL;
  for (const Pair& pair : {Pair{MPI_FLOAT, MPI_INT, MPI_FLOAT_INT},
                           {MPI_DOUBLE, MPI_INT, MPI_DOUBLE_INT},
                           {MPI_LONG, MPI_INT, MPI_LONG_INT},
                           {MPI_INT, MPI_INT, MPI_2INT},
                           {MPI_SHORT, MPI_INT, MPI_SHORT_INT},
                           {MPI_LONG_DOUBLE, MPI_INT, MPI_LONG_DOUBLE_INT},
                           {MPI_REAL, MPI_REAL, MPI_2REAL},
                           {MPI_INTEGER, MPI_INTEGER, MPI_2INTEGER},
                           {MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, MPI_2DOUBLE_PRECISION}}) {
    if (is(value_type, pair.value) && is(index_type, pair.index)) *pair_type = pair.type;
  }
  return success;
}

}  // namespace heddle::mpi
