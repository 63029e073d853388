// Operations of the user, and reductions without communication (MPI 5.0, sections 6.9.5 to 6.9.7).
#include "objects/binding/impl.hpp"
#include "objects/object/resolve.hpp"
#include "objects/op/op.hpp"

namespace heddle::mpi {
namespace {

Op& make(int commute) {
  Op& op = *make_object<Op>();
  op.commutative = commute != 0;
  return op;
}

}  // namespace

Error Op_create(MPI_User_function* user_fn, int commute, MPI_Op* op) {
  Op& made = make(commute);
  made.function = user_fn;
  *op = handle_of<MPI_Op>(made);
  return success;
}

Error Op_create_c(MPI_User_function_c* user_fn, int commute, MPI_Op* op) {
  Op& made = make(commute);
  made.large_function = user_fn;
  *op = handle_of<MPI_Op>(made);
  return success;
}

Error Op_free(MPI_Op* op) {
  Op& freed = *object(*op);
  if (freed.predefined) return fail(MPI_ERR_OP, "op is a predefined operation, which cannot be freed");
  retire(freed);
  *op = MPI_OP_NULL;
  return success;
}

Error Op_commutative(const Op& op, int* commute) {
  *commute = op.commutative;
  return success;
}

Error Reduce_local(const void* inbuf, void* inoutbuf, MPI_Count count, const Datatype& datatype, const Op& op) {
  if (Error e = check_reducible(op, datatype)) return e;
  reduce_local(op, inbuf, inoutbuf, count, datatype);
  return success;
}

}  // namespace heddle::mpi
