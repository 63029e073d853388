// The contents of a datatype: the arguments of its constructor, as MPI_Type_get_contents returns them, and their one
// interpretation, `for_each_part`, from which everything else is derived: bounds, program, signature, elements.
#pragma once

#include <mpi.h>

#include <limits>
#include <string>
#include <vector>

#include "objects/datatype/datatype.hpp"

namespace heddle::datatype {

struct Contents {
  int combiner = MPI_COMBINER_NAMED;
  bool large = false;                  // by the function with MPI_Count arguments, the _c one
  std::vector<MPI_Count> values;       // all numbers, in the order of MPI 5.0, section 5.1.13
  std::size_t addresses = 0;           // so many of the last ones are of type MPI_Aint in the function without _c
  std::vector<const Datatype*> types;  // a reference each

  // Subarray and darray: the same layout made of simpler types; a reference.
  const Datatype* layout = nullptr;
  std::string name = {};  // MPI_Type_set_name
  int depth = 1;          // levels of derived datatypes, this one included
};

// `count` times, `stride` bytes apart, `block` elements of `child` one after the other; the first at `disp`.
struct Part {
  MPI_Aint disp;
  MPI_Count count;
  MPI_Aint stride;
  MPI_Count block;
  const Datatype* child;
};

// A displacement in units of a child's extent. An overflow becomes the largest number of its sign, which make() then
// finds to be too large.
constexpr MPI_Aint scaled(MPI_Count units, MPI_Aint extent) {
  MPI_Aint bytes;
  if (!__builtin_mul_overflow(units, extent, &bytes)) return bytes;
  return (units < 0) == (extent < 0) ? std::numeric_limits<MPI_Aint>::max() : std::numeric_limits<MPI_Aint>::min();
}

// Calls visit(Part) for the parts of a type that is not predefined, in the order of its type map.
template <class Visit>
void for_each_part(const Contents& c, Visit&& visit) {
  const Datatype* old = c.types.empty() ? nullptr : c.types[0];
  const MPI_Count* v = c.values.data();
  switch (c.combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
      return visit(Part{0, 1, 0, 1, old});
    case MPI_COMBINER_SUBARRAY:
    case MPI_COMBINER_DARRAY:
      return visit(Part{0, 1, 0, 1, c.layout});
    case MPI_COMBINER_CONTIGUOUS:
      return visit(Part{0, 1, 0, v[0], old});
    case MPI_COMBINER_VECTOR:
      return visit(Part{0, v[0], scaled(v[2], old->extent), v[1], old});
    case MPI_COMBINER_HVECTOR:
      return visit(Part{0, v[0], v[2], v[1], old});
    case MPI_COMBINER_INDEXED:
      for (MPI_Count i = 1; i <= v[0]; ++i) visit(Part{scaled(v[v[0] + i], old->extent), 1, 0, v[i], old});
      return;
    case MPI_COMBINER_HINDEXED:
      for (MPI_Count i = 1; i <= v[0]; ++i) visit(Part{v[v[0] + i], 1, 0, v[i], old});
      return;
    case MPI_COMBINER_INDEXED_BLOCK:
      for (MPI_Count i = 0; i < v[0]; ++i) visit(Part{scaled(v[2 + i], old->extent), 1, 0, v[1], old});
      return;
    case MPI_COMBINER_HINDEXED_BLOCK:
      for (MPI_Count i = 0; i < v[0]; ++i) visit(Part{v[2 + i], 1, 0, v[1], old});
      return;
    case MPI_COMBINER_STRUCT:
      for (MPI_Count i = 1; i <= v[0]; ++i) visit(Part{v[v[0] + i], 1, 0, v[i], c.types[i - 1]});
      return;
    default:
      return;  // named and unnamed predefined types have no parts
  }
}

}  // namespace heddle::datatype
