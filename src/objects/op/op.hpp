// Reduction operations (MPI 5.0, section 6.9).
//
// A predefined operation is a row of kernels, one for each element that it is defined for. A user's operation
// is a callback. Predefined ones are process-wide constants: never counted, freed or written.
#pragma once

#include <mpi.h>

#include "objects/datatype/datatype.hpp"
#include "objects/object/error.hpp"
#include "objects/object/object.hpp"

namespace heddle {

struct Op final : Object {
  static constexpr Kind object_kind = Kind::op;
  constexpr Op() : Object(Kind::op) {}

  bool predefined = false;
  bool commutative = true;
  MPI_User_function* function = nullptr;  // a user's operation has one of the two
  MPI_User_function_c* large_function = nullptr;
};

// The predefined operation of a constant of the standard (0x20 .. 0x3f); null if there is none of that value.
Op* predefined_op(MPI_Op constant);

inline void retain(Op& op) {
  if (!op.predefined) retain<Op>(op);
}
inline void release(Op& op) {
  if (!op.predefined) release<Op>(op);
}
inline void retain(const Op& op) { retain(const_cast<Op&>(op)); }
inline void release(const Op& op) { release(const_cast<Op&>(op)); }

// Checks that the operation is defined for elements of this type in a reduction. MPI_ERR_OP with the reason if not.
Error check_reducible(const Op& op, const Datatype& type);

// inout[i] = in[i] op inout[i] for `count` elements; the operation must be defined for the type. Neither
// buffer needs to be aligned. A user's operation is called in this thread.
void reduce_local(const Op& op, const void* in, void* inout, MPI_Count count, const Datatype& type);

}  // namespace heddle
