#include "coll/check.hpp"

namespace heddle::coll {

Error fail_in_place(const char* name, const char* why) {
  return fail(MPI_ERR_BUFFER, "%s is MPI_IN_PLACE, which is not allowed %s", name, why);
}

Error check_buffer(const char* name, const void* buffer, MPI_Count count, const Datatype* type) {
  if (is_in_place(buffer)) return fail_in_place(name, "here");
  if (!type) return fail(MPI_ERR_TYPE, "the datatype of %s is MPI_DATATYPE_NULL", name);
  if (!buffer && count > 0 && type->size > 0 && !type->may_be_absolute()) {
    return fail(MPI_ERR_BUFFER, "%s is null, but the count is %lld", name, static_cast<long long>(count));
  }
  return success;
}

Error check_blocks(const char* name, const Blocks& blocks, int n) {
  if (blocks.is_regular()) return check_buffer(name, blocks.base, blocks.count, blocks.type);
  if (is_in_place(blocks.base)) return fail_in_place(name, "here");
  if (n == 0) return success;
  if (!blocks.counts) return fail(MPI_ERR_ARG, "the array of counts of %s is null", name);
  if (!blocks.displs) return fail(MPI_ERR_ARG, "the array of displacements of %s is null", name);
  const bool wide = blocks.shape == Blocks::Shape::wide;
  if (wide && !blocks.types) return fail(MPI_ERR_ARG, "the array of datatypes of %s is null", name);
  for (int i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const MPI_Count count = blocks.counts[at];
    if (count < 0) {
      return fail(MPI_ERR_COUNT, "count %d of %s is %lld, which is negative", i, name, static_cast<long long>(count));
    }
    const Datatype* type = wide ? object(blocks.types[at]) : blocks.type;
    if (!type) return fail(MPI_ERR_TYPE, "datatype %d of %s is null or has been freed", i, name);
    if (!type->committed) return fail(MPI_ERR_TYPE, "datatype %d of %s is not committed", i, name);
    if (!blocks.base && count > 0 && type->size > 0 && blocks.displs[at] == 0 && !type->may_be_absolute()) {
      return fail(MPI_ERR_BUFFER, "%s is null, but count %d is %lld", name, i, static_cast<long long>(count));
    }
  }
  return success;
}

Error check_slices(const Slices& slices, int n) {
  if (slices.regular) return success;
  if (!slices.counts) return fail(MPI_ERR_ARG, "recvcounts is null");
  for (int i = 0; i < n; ++i) {
    if (const MPI_Count count = slices.count(i); count < 0) {
      return fail(MPI_ERR_COUNT, "recvcounts[%d] is %lld, which is negative", i, static_cast<long long>(count));
    }
  }
  return success;
}

Error check_distinct(const void* sendbuf, const void* recvbuf, std::size_t bytes) {
  if (sendbuf != recvbuf || !sendbuf || bytes == 0) return success;
  return fail(MPI_ERR_BUFFER, "the send and the receive buffer are the same (%p); MPI_IN_PLACE says that", sendbuf);
}

Error check_copy(const Piece& from, const Piece& to) {
  if (from.bytes() > to.bytes()) {
    return fail(MPI_ERR_TRUNCATE, "this process sends itself %zu bytes, but receives %zu", from.bytes(), to.bytes());
  }
  return check_distinct(from.data, to.data, from.bytes());
}

Error check_no_in_place(const char* name, const void* buffer) {
  return is_in_place(buffer) ? fail_in_place(name, "here") : success;
}

}  // namespace heddle::coll
