// The layouts of MPI_Type_create_subarray and MPI_Type_create_darray (MPI 5.0, sections 5.1.3 and 5.1.4), put together
// from simpler types: from the dimension that varies fastest outwards, each dimension repeats what is inside it, a
// stride apart; in the end it is moved to where it starts and gets the extent of the whole array.
#include <algorithm>
#include <vector>

#include "objects/datatype/make.hpp"
#include "objects/datatype/reference.hpp"

namespace heddle::datatype {
namespace {

class Grid {
 public:
  Grid(const Datatype& old, int ndims, int order) : old_(old), inner_(old), ndims_(ndims), order_(order) {}

  // The dimensions from the one that varies fastest.
  int dimension(int i) const { return order_ == MPI_ORDER_C ? ndims_ - 1 - i : i; }

  // A dimension of `size` indices of which [start, start + count) belong to the layout.
  Error add_range(MPI_Count size, MPI_Count start, MPI_Count count) {
    if (Error e = repeat(inner_, count, stride_, inner_)) return e;
    return finish_dimension(size, start);
  }

  // A dimension of `size` indices of which `block` belong to it from `start` on, and again every `period`.
  Error add_cyclic(MPI_Count size, MPI_Count start, MPI_Count block, MPI_Count period) {
    const MPI_Count mine = std::max<MPI_Count>(size - start, 0);
    const MPI_Count whole = mine / period + (mine % period >= block);
    const MPI_Count rest = mine % period < block ? mine % period : 0;
    Reference blocks, last;
    if (Error e = repeat(inner_, block, stride_, blocks)) return e;
    if (Error e = repeat(blocks, whole, scaled(period, stride_), blocks)) return e;
    if (rest != 0) {
      if (Error e = repeat(inner_, rest, stride_, last)) return e;
      const MPI_Aint place = scaled(scaled(whole, period), stride_);
      Contents both{MPI_COMBINER_STRUCT, true, {2, 1, 1, 0, place}, 0, {&*blocks, &*last}};
      if (Error e = step(std::move(both), blocks)) return e;
    }
    inner_ = std::move(blocks);
    return finish_dimension(size, start);
  }

  Error finish(Datatype*& made) {
    Contents moved{MPI_COMBINER_HINDEXED_BLOCK, true, {1, 1, start_}, 0, {&*inner_}};
    if (Error e = step(std::move(moved), inner_)) return e;
    Contents resized{MPI_COMBINER_RESIZED, true, {0, stride_}, 0, {&*inner_}};
    if (Error e = step(std::move(resized), inner_)) return e;
    made = inner_.give();
    return success;
  }

 private:
  static Error step(Contents&& contents, Reference& result) {
    Datatype* made;
    if (Error e = make(std::move(contents), made)) return e;
    result = Reference::adopt(made);
    return success;
  }

  static Error repeat(const Reference& what, MPI_Count count, MPI_Aint stride, Reference& result) {
    return step({MPI_COMBINER_HVECTOR, true, {count, 1, stride}, 0, {&*what}}, result);
  }

  Error finish_dimension(MPI_Count size, MPI_Count start) {
    start_ += scaled(start, stride_);
    if (__builtin_mul_overflow(stride_, size, &stride_)) {
      return fail(MPI_ERR_ARG, "the array of %d dimensions is larger than what an MPI_Aint can hold", ndims_);
    }
    return success;
  }

  const Datatype& old_;
  Reference inner_;  // what the dimensions so far make of the old type
  int ndims_;
  int order_;
  MPI_Aint stride_ = old_.extent;  // from one index of the next dimension to the following
  MPI_Aint start_ = 0;
};

}  // namespace

Error make_subarray_layout(int ndims, const MPI_Count* sizes, const MPI_Count* subsizes, const MPI_Count* starts,
                           int order, const Datatype& old, Datatype*& made) {
  Grid grid(old, ndims, order);
  for (int i = 0; i < ndims; ++i) {
    const int d = grid.dimension(i);
    if (Error e = grid.add_range(sizes[d], starts[d], subsizes[d])) return e;
  }
  return grid.finish(made);
}

Error make_darray_layout(int size, int rank, int ndims, const MPI_Count* gsizes, const MPI_Count* distribs,
                         const MPI_Count* dargs, const MPI_Count* psizes, int order, const Datatype& old,
                         Datatype*& made) {
  // The process grid is row-major whatever the order of the array (section 5.1.4).
  std::vector<MPI_Count> coordinate(static_cast<std::size_t>(ndims));
  MPI_Count rest = rank;
  for (int d = ndims - 1; d >= 0; --d) {
    coordinate[d] = rest % psizes[d];
    rest /= psizes[d];
  }

  Grid grid(old, ndims, order);
  for (int i = 0; i < ndims; ++i) {
    const int d = grid.dimension(i);
    const MPI_Count total = gsizes[d];
    const MPI_Count processes = psizes[d];
    const bool by_default = dargs[d] == MPI_DISTRIBUTE_DFLT_DARG;
    if (distribs[d] == MPI_DISTRIBUTE_CYCLIC) {
      const MPI_Count block = by_default ? 1 : dargs[d];
      if (Error e = grid.add_cyclic(total, scaled(coordinate[d], block), block, scaled(processes, block))) return e;
    } else {
      const MPI_Count even = total / processes + (total % processes != 0);
      const MPI_Count block = distribs[d] == MPI_DISTRIBUTE_NONE ? total : by_default ? even : dargs[d];
      const MPI_Count start = std::min(scaled(coordinate[d], block), total);
      if (Error e = grid.add_range(total, start, std::min(block, total - start))) return e;
    }
  }
  return grid.finish(made);
}

}  // namespace heddle::datatype
