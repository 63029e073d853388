// The constructors of derived datatypes (MPI 5.0, sections 5.1.2 to 5.1.4, 5.1.7, 5.1.10).
//
// Each writes its arguments down in the order in which MPI_Type_get_contents returns them; make() does the rest. The
// large variants have functions of their own only where no argument tells which variant it is.
#include "objects/binding/impl.hpp"
#include "objects/datatype/make.hpp"
#include "objects/datatype/name.hpp"
#include "objects/datatype/reference.hpp"
#include "objects/object/resolve.hpp"

namespace heddle::mpi {
namespace {

using datatype::Contents;

Error make(Contents&& contents, MPI_Datatype* handle) {
  Datatype* made;
  if (Error e = datatype::make(std::move(contents), made)) return e;
  *handle = handle_of<MPI_Datatype>(*made);
  return success;
}

// Collects the numbers of a constructor.
class Numbers {
 public:
  Numbers(std::initializer_list<MPI_Count> first) : values_(first) {}
  Numbers& add(Counts counts, MPI_Count n) {
    values_.reserve(values_.size() + static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) values_.push_back(counts[i]);
    return *this;
  }
  Numbers& add(MPI_Count value) {
    values_.push_back(value);
    return *this;
  }
  std::vector<MPI_Count> take() { return std::move(values_); }

 private:
  std::vector<MPI_Count> values_;
};

Error contiguous(bool large, MPI_Count count, const Datatype& old, MPI_Datatype* made) {
  return make({MPI_COMBINER_CONTIGUOUS, large, {count}, 0, {&old}}, made);
}

Error vector(bool large, MPI_Count count, MPI_Count blocklength, MPI_Count stride, const Datatype& old,
             MPI_Datatype* made) {
  return make({MPI_COMBINER_VECTOR, large, {count, blocklength, stride}, 0, {&old}}, made);
}

Error hvector(bool large, MPI_Count count, MPI_Count blocklength, MPI_Count stride, const Datatype& old,
              MPI_Datatype* made) {
  return make({MPI_COMBINER_HVECTOR, large, {count, blocklength, stride}, 1, {&old}}, made);
}

Error hindexed_block(bool large, MPI_Count count, MPI_Count blocklength, Counts displacements, const Datatype& old,
                     MPI_Datatype* made) {
  Numbers numbers{count, blocklength};
  numbers.add(displacements, count);
  return make({MPI_COMBINER_HINDEXED_BLOCK, large, numbers.take(), static_cast<std::size_t>(count), {&old}}, made);
}

Error resized(bool large, const Datatype& old, MPI_Count lb, MPI_Count extent, MPI_Datatype* made) {
  return make({MPI_COMBINER_RESIZED, large, {lb, extent}, 2, {&old}}, made);
}

}  // namespace

Error Type_contiguous(MPI_Count count, const Datatype& oldtype, MPI_Datatype* newtype) {
  return contiguous(false, count, oldtype, newtype);
}
Error Type_contiguous_c(MPI_Count count, const Datatype& oldtype, MPI_Datatype* newtype) {
  return contiguous(true, count, oldtype, newtype);
}

Error Type_vector(MPI_Count count, MPI_Count blocklength, MPI_Count stride, const Datatype& oldtype,
                  MPI_Datatype* newtype) {
  return vector(false, count, blocklength, stride, oldtype, newtype);
}
Error Type_vector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride, const Datatype& oldtype,
                    MPI_Datatype* newtype) {
  return vector(true, count, blocklength, stride, oldtype, newtype);
}

Error Type_create_hvector(MPI_Count count, MPI_Count blocklength, MPI_Count stride, const Datatype& oldtype,
                          MPI_Datatype* newtype) {
  return hvector(false, count, blocklength, stride, oldtype, newtype);
}
Error Type_create_hvector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride, const Datatype& oldtype,
                            MPI_Datatype* newtype) {
  return hvector(true, count, blocklength, stride, oldtype, newtype);
}

Error Type_indexed(MPI_Count count, Counts array_of_blocklengths, Counts array_of_displacements,
                   const Datatype& oldtype, MPI_Datatype* newtype) {
  Numbers numbers{count};
  numbers.add(array_of_blocklengths, count).add(array_of_displacements, count);
  return make({MPI_COMBINER_INDEXED, array_of_blocklengths.large, numbers.take(), 0, {&oldtype}}, newtype);
}

Error Type_create_hindexed(MPI_Count count, Counts array_of_blocklengths, Counts array_of_displacements,
                           const Datatype& oldtype, MPI_Datatype* newtype) {
  Numbers numbers{count};
  numbers.add(array_of_blocklengths, count).add(array_of_displacements, count);
  return make(
      {MPI_COMBINER_HINDEXED, array_of_blocklengths.large, numbers.take(), static_cast<std::size_t>(count), {&oldtype}},
      newtype);
}

Error Type_create_indexed_block(MPI_Count count, MPI_Count blocklength, Counts array_of_displacements,
                                const Datatype& oldtype, MPI_Datatype* newtype) {
  Numbers numbers{count, blocklength};
  numbers.add(array_of_displacements, count);
  return make({MPI_COMBINER_INDEXED_BLOCK, array_of_displacements.large, numbers.take(), 0, {&oldtype}}, newtype);
}

Error Type_create_hindexed_block(MPI_Count count, MPI_Count blocklength, Counts array_of_displacements,
                                 const Datatype& oldtype, MPI_Datatype* newtype) {
  return hindexed_block(false, count, blocklength, array_of_displacements, oldtype, newtype);
}
Error Type_create_hindexed_block_c(MPI_Count count, MPI_Count blocklength, Counts array_of_displacements,
                                   const Datatype& oldtype, MPI_Datatype* newtype) {
  return hindexed_block(true, count, blocklength, array_of_displacements, oldtype, newtype);
}

Error Type_create_struct(MPI_Count count, Counts array_of_blocklengths, Counts array_of_displacements,
                         const MPI_Datatype array_of_types[], MPI_Datatype* newtype) {
  Numbers numbers{count};
  numbers.add(array_of_blocklengths, count).add(array_of_displacements, count);
  Contents contents{
      MPI_COMBINER_STRUCT, array_of_blocklengths.large, numbers.take(), static_cast<std::size_t>(count), {}};
  contents.types.reserve(static_cast<std::size_t>(count));
  for (MPI_Count i = 0; i < count; ++i) contents.types.push_back(object(array_of_types[i]));
  return make(std::move(contents), newtype);
}

Error Type_create_resized(const Datatype& oldtype, MPI_Count lb, MPI_Count extent, MPI_Datatype* newtype) {
  return resized(false, oldtype, lb, extent, newtype);
}
Error Type_create_resized_c(const Datatype& oldtype, MPI_Count lb, MPI_Count extent, MPI_Datatype* newtype) {
  return resized(true, oldtype, lb, extent, newtype);
}

Error Type_create_subarray(int ndims, Counts array_of_sizes, Counts array_of_subsizes, Counts array_of_starts,
                           int order, const Datatype& oldtype, MPI_Datatype* newtype) {
  if (order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN) {
    return fail(MPI_ERR_ARG, "order is %d, neither MPI_ORDER_C nor MPI_ORDER_FORTRAN", order);
  }
  for (int d = 0; d < ndims; ++d) {
    const MPI_Count size = array_of_sizes[d], subsize = array_of_subsizes[d], start = array_of_starts[d];
    if (size < 1 || subsize < 1 || subsize > size || start < 0 || start > size - subsize) {
      return fail(MPI_ERR_ARG, "dimension %d: %lld of %lld indices from %lld on are no part of the array", d,
                  static_cast<long long>(subsize), static_cast<long long>(size), static_cast<long long>(start));
    }
  }
  Numbers numbers{ndims};
  numbers.add(array_of_sizes, ndims).add(array_of_subsizes, ndims).add(array_of_starts, ndims).add(order);
  Contents contents{MPI_COMBINER_SUBARRAY, array_of_sizes.large, numbers.take(), 0, {&oldtype}};
  const MPI_Count* values = contents.values.data() + 1;
  Datatype* layout;
  if (Error e =
          datatype::make_subarray_layout(ndims, values, values + ndims, values + 2 * ndims, order, oldtype, layout)) {
    return e;
  }
  const datatype::Reference held = datatype::Reference::adopt(layout);
  contents.layout = layout;
  return make(std::move(contents), newtype);
}

namespace {

Error check_distribution(int d, MPI_Count gsize, int distribution, int argument, int processes) {
  if (gsize < 1) {
    return fail(MPI_ERR_ARG, "dimension %d has the size %lld; at least 1 is needed", d, static_cast<long long>(gsize));
  }
  if (processes < 1) return fail(MPI_ERR_ARG, "dimension %d has %d processes; at least 1 is needed", d, processes);
  if (argument < 1) {
    return fail(MPI_ERR_ARG, "dimension %d has the distribution argument %d", d, argument);
  }
  switch (distribution) {
    case MPI_DISTRIBUTE_NONE:
      if (processes == 1) return success;
      return fail(MPI_ERR_ARG, "dimension %d is not distributed, but has %d processes", d, processes);
    case MPI_DISTRIBUTE_BLOCK:
      if (argument == MPI_DISTRIBUTE_DFLT_DARG || MPI_Count{argument} * processes >= gsize) return success;
      return fail(MPI_ERR_ARG, "dimension %d: %d processes with blocks of %d do not cover %lld indices", d, processes,
                  argument, static_cast<long long>(gsize));
    case MPI_DISTRIBUTE_CYCLIC:
      return success;
    default:
      return fail(MPI_ERR_ARG, "dimension %d has the unknown distribution %d", d, distribution);
  }
}

}  // namespace

Error Type_create_darray(int size, int rank, int ndims, Counts array_of_gsizes, const int array_of_distribs[],
                         const int array_of_dargs[], const int array_of_psizes[], int order, const Datatype& oldtype,
                         MPI_Datatype* newtype) {
  if (order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN) {
    return fail(MPI_ERR_ARG, "order is %d, neither MPI_ORDER_C nor MPI_ORDER_FORTRAN", order);
  }
  if (size < 1) return fail(MPI_ERR_ARG, "size is %d; at least 1 is needed", size);
  if (rank < 0 || rank >= size) return fail(MPI_ERR_RANK, "rank is %d, but size is %d", rank, size);
  __int128 processes = 1;
  for (int d = 0; d < ndims && processes <= size; ++d) {
    if (Error e =
            check_distribution(d, array_of_gsizes[d], array_of_distribs[d], array_of_dargs[d], array_of_psizes[d])) {
      return e;
    }
    processes *= array_of_psizes[d];
  }
  if (processes != size) return fail(MPI_ERR_ARG, "size is %d, which is not the product of the process grid", size);

  Numbers numbers{size, rank, ndims};
  numbers.add(array_of_gsizes, ndims).add(array_of_distribs, ndims).add(array_of_dargs, ndims);
  numbers.add(array_of_psizes, ndims).add(order);
  Contents contents{MPI_COMBINER_DARRAY, array_of_gsizes.large, numbers.take(), 0, {&oldtype}};
  const MPI_Count* values = contents.values.data() + 3;
  Datatype* layout;
  if (Error e = datatype::make_darray_layout(size, rank, ndims, values, values + ndims, values + 2 * ndims,
                                             values + 3 * ndims, order, oldtype, layout)) {
    return e;
  }
  const datatype::Reference held = datatype::Reference::adopt(layout);
  contents.layout = layout;
  return make(std::move(contents), newtype);
}

}  // namespace heddle::mpi
