#include "objects/object/fortran_types.hpp"

#include <bit>
#include <cstring>
#include <mutex>
#include <string_view>

namespace heddle {
namespace {

struct Size {
  KnownKey key;
  std::string_view value;
};
constexpr Size ours[] = {
    {"mpi_logical_size", "4"},
    {"mpi_integer_size", "4"},
    {"mpi_real_size", "4"},
    {"mpi_double_precision_size", "8"},
};

// The place in booleans_ of a size; -1: no LOGICAL has that size.
int place_of(int size) {
  if (size < 1 || size > 16 || !std::has_single_bit(static_cast<unsigned>(size))) return -1;
  return std::countr_zero(static_cast<unsigned>(size));
}

}  // namespace

Error FortranTypes::tell(const InfoEntries& sizes) {
  for (const auto& [key, value] : sizes) {
    for (const Size& size : ours) {
      if (key == size.key && value != size.value) {
        return fail(MPI_ERR_ABI, "%s is '%.20s'; Heddle's datatypes for Fortran have %s bytes", key.c_str(),
                    value.c_str(), size.value.data());
      }
    }
  }
  const std::lock_guard lock(mutex_);
  if (sizes_) return fail(MPI_ERR_ABI, "the sizes of Fortran's types have been set before");
  sizes_ = sizes;
  return success;
}

std::optional<InfoEntries> FortranTypes::sizes() const {
  const std::lock_guard lock(mutex_);
  return sizes_;
}

Error FortranTypes::tell_booleans(int size, const void* yes, const void* no) {
  const int place = place_of(size);
  if (place < 0) return fail(MPI_ERR_ARG, "no LOGICAL has %d bytes", size);
  const std::lock_guard lock(mutex_);
  Booleans& booleans = booleans_[place];
  if (booleans.size != 0) return fail(MPI_ERR_ABI, "Fortran's booleans of %d bytes have been set before", size);
  booleans.size = size;
  std::memcpy(booleans.yes, yes, static_cast<std::size_t>(size));
  std::memcpy(booleans.no, no, static_cast<std::size_t>(size));
  return success;
}

bool FortranTypes::booleans(int size, void* yes, void* no) const {
  const int place = place_of(size);
  const std::lock_guard lock(mutex_);
  if (place < 0 || booleans_[place].size == 0) return false;
  std::memcpy(yes, booleans_[place].yes, static_cast<std::size_t>(size));
  std::memcpy(no, booleans_[place].no, static_cast<std::size_t>(size));
  return true;
}

}  // namespace heddle
