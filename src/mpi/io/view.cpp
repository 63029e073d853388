#include "mpi/io/view.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "objects/datatype/name.hpp"

namespace heddle::io {

namespace {

// How the runs of a layout follow each other.
struct Order {
  bool decreases = false;  // one begins before the one before it
  bool overlaps = false;
  bool repeats_in_order = true;  // also from the next extent on
};

Order order_of(const Datatype& layout) {
  Order order;
  if (layout.dense) return order;
  std::array<iovec, 64> runs;
  std::uintptr_t start = 0;
  std::uintptr_t end = 0;
  std::uintptr_t first = 0;
  std::size_t bytes = 0;
  for (std::size_t offset = 0;; offset += bytes) {
    const std::size_t n = segments(layout, nullptr, 1, offset, runs.data(), runs.size(), bytes);
    if (n == 0) break;
    if (offset == 0) first = reinterpret_cast<std::uintptr_t>(runs[0].iov_base);
    for (std::size_t i = 0; i < n; ++i) {
      const auto at = reinterpret_cast<std::uintptr_t>(runs[i].iov_base);
      order.decreases |= at < start;
      order.overlaps |= at < end;
      start = at;
      end = std::max(end, at + runs[i].iov_len);
    }
  }
  order.repeats_in_order = first + static_cast<std::uintptr_t>(layout.extent) >= end;
  return order;
}

// The requirements of section 14.3 for an etype and a filetype. The class of the errors is ROMIO's.
Error check_layout(const char* what, const Datatype& type, const Datatype& layout, const Order& order, bool writable) {
  const char* fault = nullptr;
  if (layout.true_lb < 0)
    fault = "has negative displacements";
  else if (order.decreases)
    fault = "has displacements that decrease";
  else if (order.overlaps && writable)
    fault = "overlaps itself, which is allowed for read-only files only";
  if (fault == nullptr) return success;
  return fail(MPI_ERR_IO, "%s %s %s", what, datatype::label(type), fault);
}

}  // namespace

Error View::make(std::int64_t displacement, const Datatype& etype, const Datatype& filetype,
                 std::shared_ptr<const Representation> representation, bool writable,
                 std::shared_ptr<const View>& made) {
  const std::shared_ptr<View> view(new View);
  datatype::Reference file_etype;
  std::int64_t filetype_size = 0;
  if (Error e = file_size(*representation, etype, view->etype_size_)) return e;
  if (Error e = file_size(*representation, filetype, filetype_size)) return e;
  if (view->etype_size_ <= 0) return fail(MPI_ERR_ARG, "etype %s has no bytes", datatype::label(etype));
  if (filetype_size % view->etype_size_ != 0)
    return fail(MPI_ERR_ARG, "filetype %s has %lld bytes, which is not a multiple of the etype's %lld",
                datatype::label(filetype), static_cast<long long>(filetype_size),
                static_cast<long long>(view->etype_size_));
  if (Error e = in_file(*representation, filetype, view->layout_)) return e;
  if (Error e = in_file(*representation, etype, file_etype)) return e;
  if (Error e = check_layout("etype", etype, *file_etype, order_of(*file_etype), writable)) return e;
  const Datatype& layout = *view->layout_;
  const Order order = order_of(layout);
  if (Error e = check_layout("filetype", filetype, layout, order, writable)) return e;
  if (layout.size > 0 && layout.extent <= 0)
    return fail(MPI_ERR_ARG, "filetype %s has an extent that is not positive", datatype::label(filetype));
  view->displacement_ = displacement;
  view->etype_ = datatype::Reference(etype);
  view->filetype_ = datatype::Reference(filetype);
  view->representation_ = std::move(representation);
  view->ordered_ = !order.overlaps && order.repeats_in_order;
  made = view;
  return success;
}

std::shared_ptr<const View> View::of_bytes() {
  std::shared_ptr<const View> view;
  (void)make(0, *predefined_datatype(MPI_BYTE), *predefined_datatype(MPI_BYTE), native(), true, view);
  return view;
}

// The file is traversed as if it were memory whose first address is the first tile's place.
std::size_t View::runs(std::int64_t position, std::size_t bytes, Run* out, std::size_t max, std::size_t& held) const {
  const Datatype& layout = *layout_;
  held = 0;
  if (bytes == 0 || layout.size == 0) return 0;
  if (layout.dense) {
    out[0] = {displacement_ + layout.true_lb + position, bytes};
    held = bytes;
    return 1;
  }
  const std::int64_t tile = position / layout.size;
  const auto within = static_cast<std::size_t>(position % layout.size);
  const std::int64_t tiles =
      static_cast<std::int64_t>((within + bytes - 1) / static_cast<std::size_t>(layout.size)) + 1;
  void* const base = reinterpret_cast<void*>(static_cast<std::uintptr_t>(displacement_ + tile * layout.extent));
  std::array<iovec, 64> found;
  const std::size_t n = segments(layout, base, tiles, within, found.data(), std::min(max, found.size()), held);
  std::size_t used = 0;
  for (std::size_t left = std::min(held, bytes); left > 0; ++used) {
    const std::size_t length = std::min(found[used].iov_len, left);
    out[used] = {static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(found[used].iov_base)), length};
    left -= length;
  }
  held = std::min(held, bytes);
  return std::min(used, n);
}

bool View::reaches(std::int64_t position) const {
  const Datatype& layout = *layout_;
  if (layout.size == 0) return true;
  std::int64_t end = 0;
  return !__builtin_mul_overflow(position / layout.size + 1, layout.extent, &end) &&
         !__builtin_add_overflow(end, layout.true_lb + layout.true_extent, &end) &&
         !__builtin_add_overflow(end, displacement_, &end);
}

std::int64_t View::offset_of(std::int64_t position) const {
  Run run{displacement_, 0};
  std::size_t held = 0;
  (void)runs(position, 1, &run, 1, held);
  return run.offset;
}

std::int64_t View::etypes_before(std::int64_t offset) const {
  const Datatype& layout = *layout_;
  const std::int64_t distance = offset - displacement_ - layout.true_lb;
  if (distance <= 0 || layout.size == 0) return 0;
  std::int64_t position = distance;
  if (!layout.dense) {
    // Whole tiles, then the runs of the last one.
    const std::int64_t tile = distance / layout.extent;
    position = tile * layout.size;
    std::array<Run, 64> found;
    std::size_t held = 0;
    for (std::int64_t left = layout.size; left > 0; left -= static_cast<std::int64_t>(held)) {
      const std::size_t n = runs(tile * layout.size + layout.size - left, static_cast<std::size_t>(left), found.data(),
                                 found.size(), held);
      for (std::size_t i = 0; i < n; ++i)
        position += std::clamp<std::int64_t>(offset - found[i].offset, 0, static_cast<std::int64_t>(found[i].length));
    }
  }
  return (position + etype_size_ - 1) / etype_size_;
}

}  // namespace heddle::io
