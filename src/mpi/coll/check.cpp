#include "mpi/coll/check.hpp"

#include "objects/op/op.hpp"

namespace heddle::coll {

Error check_copy(const BufferView& from, const BufferView& to) {
  if (from.bytes() > to.bytes()) {
    return fail(MPI_ERR_TRUNCATE, "this process sends itself %zu bytes, but receives %zu", from.bytes(), to.bytes());
  }
  if (from.empty() || from.data != to.data || from.type->true_lb != to.type->true_lb) return success;
  return fail(MPI_ERR_BUFFER, "this process's block is at %p in both buffers. Use MPI_IN_PLACE", from.data);
}

Error take_op(Schedule& schedule, const Op& op, const Datatype& type) {
  schedule.set_op(op);
  return check_reducible(op, type);
}

namespace {

Error fail_in_place(const char* name) {
  return fail(MPI_ERR_BUFFER, "%s is MPI_IN_PLACE, which neighborhood collectives do not support", name);
}

}  // namespace

Error check_neighbor_blocks(const char* name, const Blocks& blocks, std::size_t n) {
  const bool in_place = is_in_place(blocks.base);
  if (in_place && blocks.is_regular() && !blocks.are_empty(n)) return fail_in_place(name);
  if (blocks.is_regular() || n == 0) return success;
  const bool wide = blocks.shape == Blocks::Shape::wide;
  if (!blocks.counts || !blocks.displs || (wide && !blocks.types)) {
    return fail(MPI_ERR_ARG, "an array that describes %s is null, but there are %zu neighbors", name, n);
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (const MPI_Count count = blocks.counts[i]; count < 0) {
      return fail(MPI_ERR_COUNT, "count %zu of %s is %lld, which is negative", i, name, static_cast<long long>(count));
    }
    if (const Datatype* type = wide ? object(blocks.types[i]) : blocks.type; !type || !type->committed) {
      return fail(MPI_ERR_TYPE, "datatype %zu of %s is null, has been freed, or is not committed", i, name);
    }
  }
  return in_place && !blocks.are_empty(n) ? fail_in_place(name) : Error(success);
}

}  // namespace heddle::coll
