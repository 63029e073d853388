// The envelope and contents of a datatype (MPI 5.0, sections 5.1.5 to 5.1.8, 5.1.13).
#include "objects/binding/impl.hpp"
#include "objects/datatype/contents.hpp"
#include "objects/datatype/make.hpp"
#include "objects/datatype/name.hpp"
#include "objects/object/resolve.hpp"

namespace heddle::mpi {
namespace {

using datatype::Contents;

// The distribution of the numbers of the contents. Integers come first, except that those of subarray and darray stand
// around the large counts when they were made by the large function.
struct Envelope {
  MPI_Count leading = 0;  // integers before the counts
  MPI_Count counts = 0;
  MPI_Count trailing = 0;  // integers behind them
  MPI_Count addresses = 0;
  MPI_Count types = 0;
  int combiner = MPI_COMBINER_NAMED;

  MPI_Count integers() const { return leading + trailing; }
};

Envelope envelope_of(const Datatype& type) {
  Envelope e;
  if (type.contents == nullptr) return e;
  const Contents& c = *type.contents;
  const auto n = static_cast<MPI_Count>(c.values.size());
  e.combiner = c.combiner;
  e.types = static_cast<MPI_Count>(c.types.size());
  if (!c.large) {
    e.addresses = static_cast<MPI_Count>(c.addresses);
    e.leading = n - e.addresses;
  } else if (c.combiner == MPI_COMBINER_SUBARRAY) {
    e = {1, n - 2, 1, 0, e.types, c.combiner};
  } else if (c.combiner == MPI_COMBINER_DARRAY) {
    const MPI_Count ndims = c.values[2];
    e = {3, ndims, n - 3 - ndims, 0, e.types, c.combiner};
  } else {
    e.counts = n;
  }
  return e;
}

// The user gets handles of his own, which he frees: the objects inside may have lost theirs.
Error make_handle(const Datatype& type, MPI_Datatype& handle) {
  if (type.predefined) {
    handle = handle_of<MPI_Datatype>(type);
    return success;
  }
  Contents contents = *type.contents;
  contents.name.clear();
  Datatype* made;
  if (Error e = datatype::make(std::move(contents), made)) return e;
  handle = handle_of<MPI_Datatype>(*made);
  return success;
}

Error check_room(const char* name, MPI_Count room, MPI_Count needed) {
  if (room >= needed) return success;
  return fail(MPI_ERR_ARG, "%s is %lld, but there are %lld of them", name, static_cast<long long>(room),
              static_cast<long long>(needed));
}

}  // namespace

Error Type_size(const Datatype& datatype, CountOut size) {
  size.set(datatype.size);
  return success;
}

Error Type_get_extent(const Datatype& datatype, CountOut lb, CountOut extent) {
  lb.set(datatype.lb);
  extent.set(datatype.extent);
  return success;
}

Error Type_get_true_extent(const Datatype& datatype, CountOut true_lb, CountOut true_extent) {
  true_lb.set(datatype.true_lb);
  true_extent.set(datatype.true_extent);
  return success;
}

Error Type_get_envelope(const Datatype& datatype, CountOut num_integers, CountOut num_addresses,
                        CountOut num_large_counts, CountOut num_datatypes, int* combiner) {
  const Envelope e = envelope_of(datatype);
  if (!num_large_counts && e.counts > 0) {
    return fail(MPI_ERR_TYPE, "%s, by a function with large counts: use MPI_Type_get_envelope_c",
                datatype::label(datatype));
  }
  num_integers.set(e.integers());
  num_addresses.set(e.addresses);
  if (num_large_counts) num_large_counts.set(e.counts);
  num_datatypes.set(e.types);
  *combiner = e.combiner;
  return success;
}

Error Type_get_contents(const Datatype& datatype, MPI_Count max_integers, MPI_Count max_addresses,
                        MPI_Count max_large_counts, MPI_Count max_datatypes, int array_of_integers[],
                        MPI_Aint array_of_addresses[], MPI_Count array_of_large_counts[],
                        MPI_Datatype array_of_datatypes[]) {
  if (datatype.contents == nullptr) {
    return fail(MPI_ERR_TYPE, "%s is a named datatype, which has no contents", datatype::label(datatype));
  }
  const Envelope e = envelope_of(datatype);
  if (Error error = check_room("max_integers", max_integers, e.integers())) return error;
  if (Error error = check_room("max_addresses", max_addresses, e.addresses)) return error;
  if (Error error = check_room("max_large_counts", max_large_counts, e.counts)) return error;
  if (Error error = check_room("max_datatypes", max_datatypes, e.types)) return error;

  const MPI_Count* value = datatype.contents->values.data();
  for (MPI_Count i = 0; i < e.leading; ++i) *array_of_integers++ = static_cast<int>(*value++);
  for (MPI_Count i = 0; i < e.counts; ++i) *array_of_large_counts++ = *value++;
  for (MPI_Count i = 0; i < e.trailing; ++i) *array_of_integers++ = static_cast<int>(*value++);
  for (MPI_Count i = 0; i < e.addresses; ++i) *array_of_addresses++ = *value++;
  for (const Datatype* type : datatype.contents->types) {
    if (Error error = make_handle(*type, *array_of_datatypes++)) return error;
  }
  return success;
}

}  // namespace heddle::mpi
