#include "objects/datatype/name.hpp"

#include "objects/datatype/contents.hpp"
#include "objects/datatype/predefined.hpp"

namespace heddle::datatype {

const char* label(const Datatype& type) {
  if (type.contents == nullptr) return predefined_name(type);
  if (!type.contents->name.empty()) return type.contents->name.c_str();
  switch (type.contents->combiner) {
    case MPI_COMBINER_DUP:
      return "a datatype made by MPI_Type_dup";
    case MPI_COMBINER_CONTIGUOUS:
      return "a datatype made by MPI_Type_contiguous";
    case MPI_COMBINER_VECTOR:
      return "a datatype made by MPI_Type_vector";
    case MPI_COMBINER_HVECTOR:
      return "a datatype made by MPI_Type_create_hvector";
    case MPI_COMBINER_INDEXED:
      return "a datatype made by MPI_Type_indexed";
    case MPI_COMBINER_HINDEXED:
      return "a datatype made by MPI_Type_create_hindexed";
    case MPI_COMBINER_INDEXED_BLOCK:
      return "a datatype made by MPI_Type_create_indexed_block";
    case MPI_COMBINER_HINDEXED_BLOCK:
      return "a datatype made by MPI_Type_create_hindexed_block";
    case MPI_COMBINER_STRUCT:
      return "a datatype made by MPI_Type_create_struct";
    case MPI_COMBINER_SUBARRAY:
      return "a datatype made by MPI_Type_create_subarray";
    case MPI_COMBINER_DARRAY:
      return "a datatype made by MPI_Type_create_darray";
    case MPI_COMBINER_RESIZED:
      return "a datatype made by MPI_Type_create_resized";
    default:
      return "an unnamed predefined datatype for Fortran";
  }
}

}  // namespace heddle::datatype
