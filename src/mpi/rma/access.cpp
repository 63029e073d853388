#include "mpi/rma/access.hpp"

#include <algorithm>

#include "mpi/rma/attachments.hpp"
#include "mpi/rma/window.hpp"

namespace heddle::rma {

namespace {

// The first and the last byte, seen from displacement 0, that `count` elements touch; false if that overflows.
struct Span {
  MPI_Aint first;
  MPI_Aint end;
};

bool span_of(const Wanted& wanted, MPI_Aint unit, Span& span) {
  MPI_Aint start, way;
  if (__builtin_mul_overflow(wanted.disp, unit, &start)) return false;
  if (__builtin_mul_overflow(wanted.count - 1, wanted.type.extent, &way)) return false;
  return !__builtin_add_overflow(start, wanted.type.true_lb + std::min<MPI_Aint>(way, 0), &span.first) &&
         !__builtin_add_overflow(start, wanted.type.true_lb + wanted.type.true_extent + std::max<MPI_Aint>(way, 0),
                                 &span.end);
}

Error out_of_range(const Wanted& wanted, MPI_Aint size) {
  return fail(MPI_ERR_RMA_RANGE, "target_disp = %lld with %lld elements is not within the %lld bytes of rank %d",
              static_cast<long long>(wanted.disp), static_cast<long long>(wanted.count), static_cast<long long>(size),
              wanted.rank);
}

}  // namespace

Error fail_rank(const Win& win, const char* argument, int rank) {
  const int size = win.comm->size;
  return fail(MPI_ERR_RANK, "argument %s = %d is not a rank of the window's group (0..%d)", argument, rank, size - 1);
}

Error find_place(Win& win, const Wanted& wanted, TargetRegion& place) {
  if (Error e = check_rank(win, "target_rank", wanted.rank)) return e;
  Window& window = *win.window;
  if (wanted.locked) {
    if (Error e = window.epochs.must_be_locked(wanted.rank)) return e;
  } else if (Error e = window.epochs.may_access(wanted.rank)) {
    return e;
  }
  const Target& target = window.targets[static_cast<std::size_t>(wanted.rank)];
  const bool dynamic = is_dynamic(win);
  const MPI_Aint unit = target.disp_unit;
  place.process = target.process;
  place.layout = {&wanted.type, nullptr, wanted.count};
  if (packed_size(wanted.type, wanted.count) == 0) return success;
  Span span;
  if (!span_of(wanted, unit, span)) return out_of_range(wanted, target.size);
  if (!dynamic && (span.first < 0 || span.end > target.size)) return out_of_range(wanted, target.size);
  place.layout.at = reinterpret_cast<void*>(target.base + static_cast<std::uintptr_t>(wanted.disp * unit));
  if (dynamic) return check_attached(window, wanted.rank, place.layout, span.first, span.end);
  return success;
}

}  // namespace heddle::rma
